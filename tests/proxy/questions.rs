//! Requests of servers for their clients, between eras.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use treenail::client::{ClientError, McpClientBuilder};
use treenail::context::Principal;
use treenail::prelude::*;
use treenail::proxy::ProxyLimits;
use treenail::schema::{
    ElicitAction, ElicitRequestParams, ElicitResult, ElicitValue, Revision, Root,
};

use crate::script::{legacy_server, text, tools};
use crate::station::{ERAS, LEGACY, MODERN, client_of, gateway, proxied, remote, station};

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

#[tokio::test]
async fn a_question_that_may_belong_to_another_client_reaches_none() {
    for caller in [LEGACY, MODERN] {
        let (gateway, proxy) = gateway();
        proxy.mount(asking(1)).unwrap().connected().await;
        let asked = Arc::default();
        let one = accepting(client_of(&gateway, caller), &asked)
            .build()
            .await
            .unwrap();
        let two = client_of(&gateway, caller).build().await.unwrap();
        // The server does not answer this call.
        let idle = tokio::spawn(two.session().tools_call("script.idle", ()).into_future());
        tokio::task::yield_now().await;
        assert!(!idle.is_finished(), "it waits");
        settle().await;
        let result = one.call_tool("script.ask", ()).await.unwrap();
        let text = result.as_text().unwrap();
        assert!(
            text.contains("calls of several clients are in flight"),
            "{text}"
        );
        // The server may send requests for a call that was cancelled a moment ago.
        idle.abort();
        settle().await;
        let result = one.call_tool("script.ask", ()).await.unwrap();
        assert!(
            result.as_text().unwrap().contains("several clients"),
            "{result:?}"
        );
        assert!(asked.lock().unwrap().is_empty());
    }
}

/// Lets all tasks run until they wait.
pub(crate) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn calls_of_one_client_do_not_hide_its_questions() {
    for caller in [LEGACY, MODERN] {
        let (gateway, proxy) = gateway();
        proxy.mount(asking(1)).unwrap().connected().await;
        let asked = Arc::default();
        let client = accepting(client_of(&gateway, caller), &asked)
            .build()
            .await
            .unwrap();
        let idle = tokio::spawn(client.session().tools_call("script.idle", ()).into_future());
        settle().await;
        let result = client.call_tool("script.ask", ()).await.unwrap();
        assert_eq!(result.as_text(), Some("accept"), "{caller}");
        idle.abort();
    }
}

/// A client whose user answers when `answer` is notified; `asked` is notified before.
pub(crate) fn slow_user(
    builder: McpClientBuilder,
    asked: &Arc<Notify>,
    answer: &Arc<Notify>,
) -> McpClientBuilder {
    let (asked, answer) = (Arc::clone(asked), Arc::clone(answer));
    builder.on_elicit(move |_| {
        let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
        async move {
            asked.notify_one();
            answer.notified().await;
            Ok(ElicitResult::new(ElicitAction::Accept))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_too_long_is_cancelled_and_its_caller_learns_so() {
    let (gateway, proxy) = gateway();
    let limits = ProxyLimits::default().waiting_time(Duration::from_secs(10));
    let cancelled = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&cancelled);
    let server = legacy_server(&tools(&["ask"]), move |message, line| {
        match message["method"].as_str() {
            Some("tools/call") => line.send(&json!({
                "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
            })),
            Some("notifications/cancelled") => {
                noted.fetch_add(1, Ordering::SeqCst);
            }
            _ => {}
        }
        true
    });
    proxy
        .limits(limits)
        .mount(server)
        .unwrap()
        .connected()
        .await;
    let (asked, answer) = (Arc::default(), Arc::default());
    let client = slow_user(client_of(&gateway, MODERN), &asked, &answer)
        .build()
        .await
        .unwrap();
    let call = client
        .session()
        .tools_call("script.ask", ())
        .timeout(Duration::from_secs(60));
    let call = tokio::spawn(call.into_future());
    asked.notified().await;
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(cancelled.load(Ordering::SeqCst), 1);
    answer.notify_one();
    let result = call.await.unwrap().unwrap();
    let text = result.as_text().unwrap();
    assert!(
        text.starts_with("the call at the server `script` does not wait"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_call_pauses_while_its_client_is_asked() {
    for caller in [LEGACY, MODERN] {
        let (gateway, proxy) = gateway();
        let limits = ProxyLimits::default().call_timeout(Duration::from_secs(5));
        proxy
            .limits(limits)
            .mount(asking(1))
            .unwrap()
            .connected()
            .await;
        let (asked, answer) = (Arc::default(), Arc::default());
        let client = slow_user(client_of(&gateway, caller), &asked, &answer)
            .build()
            .await
            .unwrap();
        let call = tokio::spawn(client.session().tools_call("script.ask", ()).into_future());
        asked.notified().await;
        tokio::time::sleep(Duration::from_secs(30)).await;
        answer.notify_one();
        let result = call.await.unwrap().unwrap();
        assert_eq!(result.as_text(), Some("accept"), "{caller}");
        // Without a question, the call fails in time.
        let client = client_of(&gateway, caller).build().await.unwrap();
        let result = client.call_tool("script.idle", ()).await.unwrap();
        assert_eq!(
            result.as_text(),
            Some("the server `script` did not answer: no answer within 5s"),
            "{caller}"
        );
    }
}

#[tokio::test]
async fn waiting_calls_are_bounded() {
    let (gateway, proxy) = gateway();
    let limits = ProxyLimits::default().waiting_calls(1);
    let (station, _) = station();
    proxy
        .limits(limits)
        .mount(remote("st", &station, LEGACY))
        .unwrap()
        .connected()
        .await;
    let (asked, answer) = (Arc::default(), Arc::default());
    let slow = slow_user(client_of(&gateway, MODERN), &asked, &answer)
        .build()
        .await
        .unwrap();
    let first = tokio::spawn(slow.session().tools_call("st.book", ()).into_future());
    asked.notified().await;
    let result = slow.call_tool("st.book", ()).await.unwrap();
    assert!(
        result
            .as_text()
            .unwrap()
            .contains("too many calls of this proxy wait"),
        "{result:?}"
    );
    first.abort();
}

fn as_user(server: &Server, user: &str) -> McpClientBuilder {
    let mut connection = server.connect();
    connection.extensions_mut().insert(Principal::new(user));
    McpClient::builder()
        .connection(connection)
        .protocol_version(MODERN)
}

/// Sends a modern request as is, and returns the response.
pub(crate) fn raw(
    server: &Server,
    user: &str,
    params: Value,
) -> impl Future<Output = Value> + use<> {
    let session = as_user(server, user);
    async move {
        let client = session.build().await.unwrap();
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN.as_str(),
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        });
        let mut request =
            treenail::client::SessionRequest::new(99, "tools/call", params.to_string());
        request.revision = Some(Revision::V2026_07_28);
        match client.session().session().request(request).await {
            Ok(text) => serde_json::from_str(&text).unwrap(),
            Err(error) => json!({ "error": error.to_string() }),
        }
    }
}

#[tokio::test]
async fn only_its_caller_continues_a_call_and_only_once() {
    let (station, _) = station();
    let (gateway, _mounted) = proxied(&station, LEGACY).await;
    let first = raw(&gateway, "anna", json!({"name": "st.book"})).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    let key = first["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap()
        .clone();
    let second = json!({
        "name": "st.book", "requestState": first["requestState"],
        "inputResponses": {key: {"action": "accept", "content": {"nights": 2}}},
    });
    let stolen = raw(&gateway, "eve", second.clone()).await;
    assert!(
        stolen["error"].as_str().unwrap().contains("requestState"),
        "{stolen}"
    );
    let next = raw(&gateway, "anna", second.clone()).await;
    assert_eq!(next["resultType"], "input_required", "{next}");
    let again = raw(&gateway, "anna", second).await;
    assert_eq!(again["resultType"], "input_required", "{again}");
    let key = next["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap()
        .clone();
    let third = json!({
        "name": "st.book", "requestState": next["requestState"],
        "inputResponses": {key: {"action": "accept"}},
    });
    let done = raw(&gateway, "anna", third.clone()).await;
    assert_eq!(done["content"][0]["text"], "booked 2 nights", "{done}");
    let replayed = raw(&gateway, "anna", third).await;
    assert_eq!(replayed["isError"], true, "{replayed}");
}

use std::future::{Future, IntoFuture};
