//! Owners of questions: the client that receives a question, and the caller that may continue a call.

use std::future::{Future, IntoFuture};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tower::util::MapRequestLayer;
use treenail::client::McpClientBuilder;
use treenail::context::Principal;
use treenail::layer::Request;
use treenail::prelude::*;
use treenail::proxy::Proxy;
use treenail::schema::Revision;

use crate::questions::{accepting, asking, settle};
use crate::script::{legacy_server, text, tools};
use crate::station::{LEGACY, MODERN, client_of, gateway, proxied, station};
use crate::waiting_calls::slow_user;

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

fn as_user(server: &Server, user: &str) -> McpClientBuilder {
    let mut connection = server.connect();
    connection.extensions_mut().insert(Principal::new(user));
    McpClient::builder()
        .connection(connection)
        .protocol_version(MODERN)
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
            text.contains("a call of another client that is in flight"),
            "{text}"
        );
        // The server may send requests for a call that was cancelled a moment ago.
        idle.abort();
        settle().await;
        let result = one.call_tool("script.ask", ()).await.unwrap();
        let text = result.as_text().unwrap();
        assert!(text.contains("ended less than a minute ago"), "{text}");
        assert!(asked.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_layer_makes_the_calls_of_one_person_those_of_one_client() {
    let one_person = MapRequestLayer::new(|mut request: Request| {
        request.extensions_mut().insert(Principal::new("me"));
        request
    });
    let gateway = Server::builder("gateway", "1.0.0")
        .dynamic()
        .layer(one_person)
        .build()
        .unwrap();
    let mounted = Proxy::new(&gateway).mount(asking(1)).unwrap();
    mounted.connected().await;
    for caller in [LEGACY, MODERN] {
        let client = accepting(client_of(&gateway, caller), &Arc::default());
        let client = client.build().await.unwrap();
        let other = client_of(&gateway, caller).build().await.unwrap();
        let idle = tokio::spawn(other.session().tools_call("script.idle", ()).into_future());
        settle().await;
        let result = client.call_tool("script.ask", ()).await.unwrap();
        assert_eq!(result.as_text(), Some("accept"), "{caller}");
        idle.abort();
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

#[tokio::test]
async fn a_question_outlives_another_call_of_its_client() {
    for caller in [LEGACY, MODERN] {
        let asking: Arc<Mutex<Value>> = Arc::default();
        // The running `ask` sends a question when `quick` is called, which ends at once.
        let server = legacy_server(&tools(&["ask", "quick"]), move |message, line| {
            match message["params"]["name"].as_str() {
                Some("ask") => *asking.lock().unwrap() = message.clone(),
                Some(_) => {
                    line.send(&json!({
                        "jsonrpc": "2.0", "id": 7, "method": "elicitation/create",
                        "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
                    }));
                    line.answer(message, &text("quick"));
                }
                None if message.get("method").is_none() => {
                    let answer = message["result"]["action"].as_str();
                    let answer = answer.or(message["error"]["message"].as_str()).unwrap();
                    line.answer(&asking.lock().unwrap(), &text(answer));
                }
                None => {}
            }
            true
        });
        let (gateway, proxy) = gateway();
        proxy.mount(server).unwrap().connected().await;
        let (asked, answer) = (Arc::default(), Arc::default());
        let builder = slow_user(client_of(&gateway, caller), &asked, &answer);
        let client = builder.build().await.unwrap();
        let call = |tool| tokio::spawn(client.session().tools_call(tool, ()).into_future());
        let ask = call("script.ask");
        settle().await;
        let quick = call("script.quick");
        asked.notified().await;
        settle().await;
        answer.notify_one();
        for (call, expected) in [(ask, "accept"), (quick, "quick")] {
            let result = call.await.unwrap().unwrap();
            assert_eq!(result.as_text(), Some(expected), "{caller}");
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
