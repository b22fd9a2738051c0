//! Owners of questions: the client that receives a question, and the caller that may continue a call.

use std::future::{Future, IntoFuture};
use std::sync::Arc;

use serde_json::Value;
use treenail::client::McpClientBuilder;
use treenail::context::Principal;
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::questions::{accepting, asking, settle};
use crate::station::{LEGACY, MODERN, client_of, gateway, proxied, station};

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
