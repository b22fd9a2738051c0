//! Layers that ask the client themselves, as an approval does.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tower::limit::ConcurrencyLimitLayer;
use tower::{ServiceExt, layer::layer_fn, service_fn};
use treenail::ServerBuilder;
use treenail::context::Principal;
use treenail::layer::{BoxError, Request, RequestService, Response};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::{ASKED, able, again, call, server};
use crate::support::covering::{covering, covering_one};
use crate::support::hotel::{Hotel, agree};
use crate::support::peer::{MODERN, Peer, error, text};

/// Adds a layer that runs `run`.
pub(super) fn layer<F, R>(server: ServerBuilder, run: F) -> ServerBuilder
where
    F: Fn(Request, RequestService) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<Response, BoxError>> + Send + 'static,
{
    server.layer(layer_fn(move |inner: RequestService| {
        let run = run.clone();
        service_fn(move |request: Request| run(request, inner.clone()))
    }))
}

pub(super) async fn approve(request: Request, inner: RequestService) -> Result<Response, BoxError> {
    request.context().confirm("Allow?").await?;
    inner.oneshot(request).await
}

pub(super) fn messages(questions: &[Value]) -> Vec<&str> {
    let messages = questions.iter().map(|it| &it["params"]["message"]);
    messages.map(|it| it.as_str().unwrap()).collect()
}

async fn agreed(server: &Server, revision: Revision, tool: &str) -> (Value, Vec<Value>) {
    let mut peer = able(server, revision).await;
    peer.call_and_agree(tool, json!({"city": "Oslo"})).await
}

#[tokio::test]
async fn a_layer_asks_before_the_function_does() {
    let server = server(|server| layer(server, approve));
    for revision in covering("SRV-MRTR-01, SRV-MRTR-14 in 2025-11-25, 2026-07-28") {
        let (answer, questions) = agreed(&server, revision, "ask").await;
        assert_eq!(text(&answer["result"]), "Oslo", "{revision}");
        assert_eq!(messages(&questions), ["Allow?", "Oslo?", "Really?"]);
    }
    let mut peer = able(&server, MODERN).await;
    let asked = peer.request("tools/call", call("ask")).await;
    let keys = |asked: &Value| {
        json!(
            asked["result"]["inputRequests"]
                .as_object()
                .unwrap()
                .keys()
                .collect::<Vec<_>>()
        )
    };
    assert_eq!(keys(&asked), json!(["layer-1/question-1"]));
    let asked = peer.request("tools/call", again(call("ask"), &asked)).await;
    assert_eq!(keys(&asked), json!(["question-1"]), "as without the layer");
}

#[tokio::test]
async fn a_layer_that_the_user_declines_fails_the_call() {
    let server = server(|server| layer(server, approve));
    for revision in covering("SRV-ELI-08, SRV-TOOL-16 in 2025-11-25, 2026-07-28") {
        let mut peer = able(&server, revision).await;
        let decline = |_: &Value| json!({"action": "decline"});
        let (answer, questions) = peer.converse("tools/call", call("ask"), decline).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(text(&answer["result"]), "the user declined");
        assert_eq!(questions.len(), 1);
    }
}

#[tokio::test]
async fn a_missing_capability_is_reported_for_the_question_of_a_layer() {
    let server = server(|server| layer(server, approve));
    for revision in covering("SRV-META-04, SRV-MRTR-06 in 2025-11-25, 2026-07-28") {
        let mut peer = Peer::connect(&server, revision).await;
        let answer = peer.request("tools/call", call("ask")).await;
        if revision.is_modern() {
            assert_eq!(error(&answer).0, -32021, "SRV-META-04: {answer}");
        } else {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
        }
    }
}

#[tokio::test]
async fn only_three_methods_have_questions_in_their_results() {
    let revision = covering_one("SRV-MRTR-02, SRV-MRTR-03 in 2026-07-28");
    let hotel = Server::builder("hotel", "1").mount(Hotel::default());
    let server = layer(hotel, approve).build().unwrap();
    let mut peer = able(&server, revision).await;
    for (method, params) in [
        (
            "tools/call",
            json!({"name": "book", "arguments": {"city": "Oslo"}}),
        ),
        ("prompts/get", json!({"name": "greet"})),
        ("resources/read", json!({"uri": "hotel://guest"})),
    ] {
        let (answer, questions) = peer.converse(method, params, agree).await;
        assert!(answer.get("result").is_some(), "{answer}");
        assert_eq!(messages(&questions)[0], "Allow?", "SRV-MRTR-02: {method}");
        assert!(questions.len() > 1, "the function asks too: {method}");
    }
    let reference = json!({"type": "ref/prompt", "name": "greet"});
    let complete = json!({"ref": reference, "argument": {"name": "name", "value": ""}});
    for (method, params) in [
        ("tools/list", json!({})),
        ("server/discover", json!({})),
        ("completion/complete", complete),
    ] {
        let (code, message) = peer.refused(method, params).await;
        assert_eq!(code, -32603, "SRV-MRTR-03: {message}");
        assert!(
            message.contains("questions only in results of"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_question_about_a_tool_that_does_not_exist_is_asked_once() {
    let server = server(|server| layer(server, approve));
    let mut peer = able(&server, MODERN).await;
    let missing = json!({"name": "no_tool"});
    let (answer, questions) = peer.converse("tools/call", missing, agree).await;
    assert_eq!(error(&answer).0, -32602, "{answer}");
    assert_eq!(questions.len(), 1);
}

#[tokio::test]
async fn a_layer_asks_beside_the_function_and_after_it() {
    let before = server(|server| {
        layer(server, async |request, inner| {
            let context = request.context().clone();
            let asked = async { context.confirm("Allow?").await };
            let (asked, response) = tokio::join!(asked, inner.oneshot(request));
            asked?;
            response
        })
    });
    let beside = server(|server| {
        layer(server, async |request, inner| {
            let context = request.context().clone();
            let asked = async { context.confirm("Allow?").await };
            let (response, asked) = tokio::join!(inner.oneshot(request), asked);
            asked?;
            response
        })
    });
    let after = server(|server| {
        layer(server, async |request, inner| {
            let context = request.context().clone();
            let response = inner.oneshot(request).await?;
            if response.is_complete() {
                context.confirm("Allow?").await?;
            }
            Ok(response)
        })
    });
    for revision in ASKED {
        for server in [&before, &beside, &after] {
            let (answer, questions) = agreed(server, revision, "ask").await;
            assert_eq!(text(&answer["result"]), "Oslo", "{revision}");
            let mut messages = messages(&questions);
            messages.sort_unstable();
            assert_eq!(messages, ["Allow?", "Oslo?", "Really?"], "{revision}");
        }
    }
}

#[tokio::test]
async fn layers_around_a_layer_see_its_question_as_a_response() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let server = server(|server| {
        let observed = layer(server, move |request, inner| {
            let notes = Arc::clone(&notes);
            async move {
                let response: Response = inner.oneshot(request).await?;
                notes.lock().unwrap().push(response.is_complete());
                Ok(response)
            }
        });
        let limited = observed.layer(ConcurrencyLimitLayer::new(1));
        // Two layers that ask the same question, one in the other.
        layer(layer(limited, approve), approve)
    });
    let mut first = able(&server, MODERN).await;
    first.request("tools/call", call("ask")).await;
    // The other call gets the permit of the first one.
    let (answer, questions) = agreed(&server, MODERN, "ask").await;
    assert_eq!(text(&answer["result"]), "Oslo");
    assert_eq!(
        messages(&questions),
        ["Allow?", "Allow?", "Oslo?", "Really?"]
    );
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, [false, false, false, false, false, true]);
}

#[tokio::test]
async fn a_layer_that_runs_again_asks_once() {
    let server = server(|server| {
        let retrying = layer(server, async |request: Request, inner: RequestService| {
            let response = inner.clone().oneshot(request.clone()).await?;
            if response.is_complete() {
                return inner.oneshot(request).await;
            }
            Ok(response)
        });
        layer(retrying, approve)
    });
    for (revision, count) in [(Revision::V2025_11_25, 6), (MODERN, 3)] {
        let (answer, questions) = agreed(&server, revision, "ask").await;
        assert_eq!(text(&answer["result"]), "Oslo", "{revision}");
        assert_eq!(questions.len(), count, "{revision}");
    }
}

#[tokio::test]
async fn a_panic_in_a_layer_that_a_question_drops_ends_no_session() {
    struct PanicsWhenDropped {
        early: bool,
    }
    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            assert!(!self.early, "a secret");
        }
    }
    let server = server(|server| {
        layer(server, async |request, inner| {
            let mut guard = PanicsWhenDropped { early: true };
            let response = approve(request, inner).await;
            guard.early = false;
            response
        })
    });
    let (answer, questions) = agreed(&server, MODERN, "ask").await;
    assert_eq!(text(&answer["result"]), "Oslo");
    assert_eq!(questions.len(), 3);
}

#[tokio::test]
async fn the_state_of_a_layer_is_bound_to_the_caller_that_it_sees() {
    let revision = covering_one("SRV-MRTR-12 in 2026-07-28");
    let caller = Arc::new(Mutex::new("alice"));
    let found = Arc::clone(&caller);
    let authenticate = move |mut request: Request, inner: RequestService| {
        let name = *found.lock().unwrap();
        request.extensions_mut().insert(Principal::new(name));
        inner.oneshot(request)
    };
    // The outer layer asks before the caller is known.
    let server = server(|server| layer(layer(layer(server, approve), authenticate), approve));
    let mut peer = able(&server, revision).await;
    let (answer, questions) = peer.call_and_agree("ask", json!({"city": "Oslo"})).await;
    assert_eq!(text(&answer["result"]), "Oslo");
    assert_eq!(questions.len(), 4);
    let first = peer.request("tools/call", call("ask")).await;
    let second = peer.request("tools/call", again(call("ask"), &first)).await;
    *caller.lock().unwrap() = "bob";
    let retry = again(call("ask"), &second);
    let (code, message) = peer.refused("tools/call", retry).await;
    assert_eq!(code, -32602, "SRV-MRTR-12: {message}");
    assert!(message.contains("requestState"), "{message}");
}
