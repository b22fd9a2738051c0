//! Requests of servers for their clients, between eras.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tower::{ServiceExt, layer::layer_fn, service_fn};
use treenail::ServerBuilder;
use treenail::client::{ClientError, McpClientBuilder};
use treenail::layer::{Request, RequestService, only};
use treenail::prelude::*;
use treenail::proxy::Proxy;
use treenail::schema::{ElicitAction, ElicitRequestParams, ElicitResult, ElicitValue, Root};

use crate::script::{legacy_server, text, tools};
use crate::station::{ERAS, LEGACY, Station, client_of, proxied, remote, station};

pub(crate) fn accepting(
    builder: McpClientBuilder,
    asked: &Arc<Mutex<Vec<String>>>,
) -> McpClientBuilder {
    let asked = Arc::clone(asked);
    builder.on_elicit(move |request| {
        if let ElicitRequestParams::Form(form) = &request {
            asked.lock().unwrap().push(form.message.clone());
        }
        async {
            let mut result = ElicitResult::new(ElicitAction::Accept);
            result.content = Some([("nights".to_owned(), ElicitValue::from(3_i64))].into());
            Ok(result)
        }
    })
}

#[tokio::test]
async fn elicitation_passes_in_every_era() {
    for (caller, remote) in ERAS {
        let (station, counters) = station();
        let (gateway, _mounted) = proxied(&station, remote).await;
        let asked = Arc::default();
        let client = accepting(client_of(&gateway, caller), &asked)
            .build()
            .await
            .unwrap();
        let result = client.call_tool("st.book", ()).await.unwrap();
        assert_eq!(
            result.as_text(),
            Some("booked 3 nights"),
            "{caller} {remote}"
        );
        assert_eq!(
            *asked.lock().unwrap(),
            ["How long?", "3 nights?"],
            "{caller} {remote}"
        );
        // A server of the legacy era runs the call once, while the caller makes several rounds.
        let runs = if remote == LEGACY { 1 } else { 3 };
        assert_eq!(
            counters.runs.load(Ordering::SeqCst),
            runs,
            "{caller} {remote}"
        );
    }
}

/// Adds a layer that asks before each call of a tool.
fn with_approval(server: ServerBuilder, message: &'static str) -> ServerBuilder {
    let layer = layer_fn(move |inner: RequestService| {
        service_fn(move |request: Request| {
            let inner = inner.clone();
            async move {
                request.context().confirm(message).await?;
                inner.oneshot(request).await
            }
        })
    });
    server.layer(only(Request::is_tool_call, layer))
}

#[tokio::test]
async fn layers_at_both_ends_ask_before_the_function() {
    for (caller, revision) in ERAS {
        let station = Server::builder("station", "1").mount(Station::default());
        let station = with_approval(station, "At the station?").build().unwrap();
        let gateway = Server::builder("gateway", "1").dynamic();
        let gateway = with_approval(gateway, "At the gateway?").build().unwrap();
        let proxy = Proxy::new(&gateway);
        let mounted = proxy.mount(remote("st", &station, revision)).unwrap();
        mounted.connected().await;
        let asked = Arc::default();
        let client = accepting(client_of(&gateway, caller), &asked);
        let client = client.build().await.unwrap();
        let result = client.call_tool("st.book", ()).await.unwrap();
        let text = result.as_text();
        assert_eq!(text, Some("booked 3 nights"), "{caller} {revision}");
        let expected = [
            "At the gateway?",
            "At the station?",
            "How long?",
            "3 nights?",
        ];
        assert_eq!(*asked.lock().unwrap(), expected, "{caller} {revision}");
    }
}

#[tokio::test]
async fn a_declined_question_is_the_answer_for_the_server() {
    for (caller, remote) in ERAS {
        let (station, _) = station();
        let (gateway, _mounted) = proxied(&station, remote).await;
        let decline = |_| async { Ok(ElicitResult::new(ElicitAction::Decline)) };
        let client = client_of(&gateway, caller)
            .on_elicit(decline)
            .build()
            .await
            .unwrap();
        let result = client.call_tool("st.book", ()).await.unwrap();
        assert_eq!(
            result.as_text(),
            Some("the user declined"),
            "{caller} {remote}"
        );
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_an_error_for_the_server() {
    for (caller, remote) in ERAS {
        let (station, _) = station();
        let (gateway, _mounted) = proxied(&station, remote).await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        match client.call_tool("st.book", ()).await {
            Ok(result) => {
                assert_eq!(result.is_error, Some(true), "{caller} {remote}");
                let text = result.as_text().unwrap();
                assert!(text.contains("elicitation"), "{caller} {remote}: {text}");
            }
            // The server sees the capabilities of the caller, and its error passes.
            Err(ClientError::Refused(error)) => {
                assert_eq!(error.code, -32021, "{caller} {remote}");
            }
            Err(other) => panic!("{caller} {remote}: {other}"),
        }
    }
}

struct Asker;

#[mcp_tool]
#[expect(deprecated, reason = "proxies pass it on")]
impl Asker {
    #[tool]
    async fn roots(&self, cx: &Context) -> Result<String, AskError> {
        let roots = cx.roots().await?;
        Ok(roots.iter().map(|root| root.uri.clone()).collect())
    }

    #[tool]
    async fn think(&self, cx: &Context) -> Result<String, AskError> {
        use treenail::schema::{
            CreateMessageRequestParams, OneOrMany, Role, SamplingMessage, TextContent,
        };
        let text = OneOrMany::One(TextContent::new("6 times 7?").into());
        let message = SamplingMessage::new(Role::User, text);
        let params = CreateMessageRequestParams::new(vec![message], 10);
        let answer = cx.sample(params).await?;
        Ok(answer.model)
    }

    /// Asks two questions at once.
    #[tool]
    async fn both(&self, cx: &Context) -> Result<String, AskError> {
        let (one, two) = tokio::join!(cx.confirm("One?").key("1").into_future(), async {
            cx.confirm("Two?").key("2").await
        });
        one.and(two).map(|()| "both".to_owned())
    }
}

#[tokio::test]
async fn roots_and_sampling_pass_in_every_era() {
    for (caller, remote) in ERAS {
        let server = Server::builder("asker", "1").mount(Asker).build().unwrap();
        let (gateway, _mounted) = proxied(&server, remote).await;
        let client = client_of(&gateway, caller).roots([Root::new("file:///home")]);
        let client = client.on_sample(|params| async move {
            assert_eq!(params.max_tokens, 10);
            let text = treenail::schema::TextContent::new("42");
            let text = treenail::schema::OneOrMany::One(text.into());
            let role = treenail::schema::Role::Assistant;
            Ok(treenail::schema::CreateMessageResult::new(
                role, text, "small",
            ))
        });
        let client = client.build().await.unwrap();
        let roots = client.call_tool("st.roots", ()).await.unwrap();
        assert_eq!(roots.as_text(), Some("file:///home"), "{caller} {remote}");
        let thought = client.call_tool("st.think", ()).await.unwrap();
        assert_eq!(thought.as_text(), Some("small"), "{caller} {remote}");
    }
}

#[tokio::test]
async fn questions_that_are_asked_at_once_are_all_answered() {
    for (caller, remote) in ERAS {
        let server = Server::builder("asker", "1").mount(Asker).build().unwrap();
        let (gateway, _mounted) = proxied(&server, remote).await;
        let asked = Arc::default();
        let client = accepting(client_of(&gateway, caller), &asked)
            .build()
            .await
            .unwrap();
        let result = client.call_tool("st.both", ()).await.unwrap();
        assert_eq!(result.as_text(), Some("both"), "{caller} {remote}");
        let mut asked = asked.lock().unwrap().clone();
        asked.sort();
        assert_eq!(asked, ["One?", "Two?"], "{caller} {remote}");
    }
}

/// Server of the legacy era that asks during `ask` and never answers `idle`.
pub(crate) fn asking(asks: usize) -> treenail::proxy::Remote {
    let waiting: Arc<Mutex<Option<Value>>> = Arc::default();
    legacy_server(&tools(&["ask", "idle"]), move |message, line| {
        match (
            message["method"].as_str(),
            message["params"]["name"].as_str(),
        ) {
            (_, Some("idle")) => {}
            (_, Some("ask")) => {
                *waiting.lock().unwrap() = Some(message.clone());
                for number in 0..asks {
                    line.send(&json!({
                        "jsonrpc": "2.0", "id": number, "method": "elicitation/create",
                        "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
                    }));
                }
            }
            (None, _) => {
                let answer = match message.get("error") {
                    Some(error) => error["message"].as_str().unwrap().to_owned(),
                    None => message["result"]["action"].as_str().unwrap().to_owned(),
                };
                if let Some(call) = waiting.lock().unwrap().take() {
                    line.answer(&call, &text(&answer));
                }
            }
            _ => {}
        }
        true
    })
}

/// Lets all tasks run until they wait.
pub(crate) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
