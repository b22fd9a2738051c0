//! Keys, work and callers of layers that ask, beside those of the function.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tower::ServiceExt;
use treenail::context::Principal;
use treenail::layer::{BoxError, Request, RequestService};
use treenail::prelude::*;

use super::asking_layers::{approve, layer, messages};
use super::{ASKED, able, again, call, server};
use crate::support::covering::covering_one;
use crate::support::peer::{MODERN, Peer, error, text};

struct Desk;

#[mcp_tool]
impl Desk {
    #[tool]
    async fn greet(&self, cx: &Context) -> Result<String, AskError> {
        cx.once("greet", async { Ok("Hello".to_owned()) }).await
    }

    /// Asks under keys that look like those of a layer, as the keys of another server may do.
    #[tool]
    async fn book(&self, cx: &Context) -> Result<String, AskError> {
        cx.confirm("Book?").key("layer-1/question-1").await?;
        cx.confirm("Really?")
            .key("function/layer-1/question-1")
            .await?;
        let number = cx.once("layer-1/verify", async {
            Ok::<_, AskError>("7".to_owned())
        });
        let number = number.await?;
        cx.confirm("Pay?").await?;
        Ok(number)
    }
}

#[tokio::test]
async fn keys_of_a_function_that_look_like_those_of_a_layer_are_apart() {
    let server = layer(
        treenail::server!().mount(Desk),
        async |request, inner: RequestService| {
            let verified = async { Ok::<_, AskError>("layer".to_owned()) };
            request.context().once("verify", verified).await?;
            approve(request, inner).await
        },
    );
    let server = server.build().unwrap();
    for revision in ASKED {
        let mut peer = able(&server, revision).await;
        let (answer, questions) = peer.call_and_agree("book", json!({})).await;
        assert_eq!(text(&answer["result"]), "7", "{revision}: {answer}");
        assert_eq!(messages(&questions), ["Allow?", "Book?", "Really?", "Pay?"]);
    }
}

#[tokio::test]
async fn a_layer_authenticates_the_caller_between_its_work_and_its_question() {
    let verified = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&verified);
    let server = server(|server| {
        layer(server, move |mut request: Request, inner| {
            let count = Arc::clone(&count);
            async move {
                let verify = async move {
                    count.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, AskError>("alice".to_owned())
                };
                let user = request.context().once("verify", verify).await?;
                request.extensions_mut().insert(Principal::new(user));
                approve(request, inner).await
            }
        })
    });
    let mut peer = able(&server, MODERN).await;
    let (answer, questions) = peer.call_and_agree("ask", json!({"city": "Oslo"})).await;
    assert_eq!(text(&answer["result"]), "Oslo", "{answer}");
    assert_eq!(messages(&questions), ["Allow?", "Oslo?", "Really?"]);
    assert_eq!(verified.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn each_value_of_a_layer_is_bound_to_the_caller_at_its_time() {
    let revision = covering_one("SRV-MRTR-12 in 2026-07-28");
    // The callers before and after the work of the layer.
    let callers = Arc::new(Mutex::new(("guest", "alice")));
    let found = Arc::clone(&callers);
    let server = server(|server| {
        layer(server, move |mut request: Request, inner| {
            let (early, late) = *found.lock().unwrap();
            async move {
                request.extensions_mut().insert(Principal::new(early));
                let work = async { Ok::<_, AskError>(1) };
                request.context().once("question-1", work).await?;
                request.extensions_mut().insert(Principal::new(late));
                approve(request, inner).await
            }
        })
    });
    let mut peer = able(&server, revision).await;
    let asked = peer.request("tools/call", call("ask")).await;
    for (others, is_accepted) in [
        (("guest", "alice"), true),
        (("bob", "alice"), false),
        (("guest", "bob"), false),
    ] {
        *callers.lock().unwrap() = others;
        let answer = peer.request("tools/call", again(call("ask"), &asked)).await;
        if is_accepted {
            let state = &answer["result"]["requestState"];
            assert!(state.is_string(), "{others:?}: {answer}");
        } else {
            assert_eq!(error(&answer).0, -32602, "SRV-MRTR-12 {others:?}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_missing_capability_is_reported_for_a_question_before_the_function() {
    let server = layer(
        treenail::server!().mount(Desk),
        async |request: Request, inner: RequestService| {
            let asked = request.context().confirm("Allow?").await;
            let response = inner.oneshot(request).await?;
            asked?;
            Ok::<_, BoxError>(response)
        },
    );
    let mut peer = Peer::connect(&server.build().unwrap(), MODERN).await;
    let greet = json!({"name": "greet"});
    let answer = peer.request("tools/call", greet).await;
    assert_eq!(error(&answer).0, -32021, "{answer}");
}
