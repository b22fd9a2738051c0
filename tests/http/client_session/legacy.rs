//! The legacy era: sessions, with our own server.

use serde_json::{Value, json};
use treenail_runtime::client::{ClientError, Session};

use super::ears::{Dialog, Heard, initialize, legacy, serve, tool};
use super::script::{Asked, Script, Told};
use crate::fixture::{Desk, builder, builder_of};

fn add(id: i64) -> treenail_runtime::client::SessionRequest {
    legacy(id, "tools/call", &tool("add", &json!({"a": 2, "b": 1})))
}

#[tokio::test]
async fn a_session_is_held() {
    let (server, url) = serve(builder()).await;
    let mut dialog = Dialog::legacy(&url).await;
    let result = dialog.send(add(1)).await.unwrap();
    assert_eq!(result["content"][0]["text"], "3", "CLI-LHTTP-07");

    let mut params = tool("count", &json!({"to": 2}));
    params["_meta"]["progressToken"] = "p".into();
    let result = dialog.send(legacy(2, "tools/call", &params)).await.unwrap();
    assert_eq!(result["content"][0]["text"], "counted");
    for step in 1..=2 {
        let heard = dialog.heard().await;
        let Heard::Notification(_, params) = heard else {
            panic!("{heard:?}");
        };
        assert_eq!(params, json!({"progressToken": "p", "progress": step}));
    }

    let subscribe = legacy(3, "resources/subscribe", &json!({"uri": "notes://1"}));
    dialog.send(subscribe).await.unwrap();
    server.resource_updated("notes://1");
    let heard = dialog.heard().await;
    let Heard::Notification(method, params) = heard else {
        panic!("{heard:?}");
    };
    assert_eq!(method, "notifications/resources/updated", "CLI-LHTTP-05");
    assert_eq!(params["uri"], "notes://1");

    let error = dialog
        .send(legacy(4, "no/such", &json!({})))
        .await
        .unwrap_err();
    assert_eq!(error.as_refused().unwrap().code, -32601);
}

#[tokio::test]
async fn the_server_may_ask() {
    let (_server, url) = serve(builder()).await;
    let mut dialog = Dialog::legacy(&url).await;
    for (id, action) in [(1, Some("accept")), (2, Some("decline")), (3, None)] {
        let call = dialog.begin(legacy(id, "tools/call", &tool("ask", &json!({}))));
        let heard = dialog.heard().await;
        let Heard::Request(method, params, responder) = heard else {
            panic!("{heard:?}");
        };
        assert_eq!(method, "elicitation/create");
        assert_eq!(params["message"], "Sure?");
        match action {
            Some(action) => responder.respond(Ok(json!({"action": action}).to_string())),
            None => drop(responder),
        }
        let result: Value = serde_json::from_str(&call.await.unwrap().unwrap()).unwrap();
        let fails = result["isError"] == true;
        assert_eq!(fails, action != Some("accept"), "{result}");
    }
}

#[tokio::test]
async fn dropping_a_request_tells_the_server() {
    let desk = Desk::default();
    let (_server, url) = serve(builder_of(&desk)).await;
    let dialog = Dialog::legacy(&url).await;
    let call = dialog.begin(legacy(1, "tools/call", &tool("wait", &json!({}))));
    desk.begun.notified().await;
    call.abort();
    // CLI-LHTTP-04: that the connection is gone would not end the call (SRV-LHTTP-10).
    desk.ended.notified().await;
    dialog.send(add(2)).await.unwrap();
}

/// Says what a server of the legacy era says to everything but calls.
pub(crate) fn usual(asked: &Asked) -> Told {
    match (&*asked.method, asked.rpc()) {
        ("POST", "initialize") => {
            let result = json!({
                "jsonrpc": "2.0", "id": asked.body["id"], "result": {"protocolVersion": "2025-11-25"},
            });
            let headers = "content-type: application/json\r\nmcp-session-id: s-1";
            Told::response(200, headers, &result.to_string())
        }
        ("GET", _) => Told::response(405, "", ""),
        ("DELETE", _) => Told::response(204, "", ""),
        ("POST", method) if method.starts_with("notifications/") => Told::accepted(),
        _ => Told::result(asked, &json!({})),
    }
}

#[tokio::test]
async fn every_message_names_the_session() {
    let mut script = Script::new(usual).await;
    let dialog = Dialog::legacy(&script.url).await;
    dialog.send(add(1)).await.unwrap();
    dialog.session.close().await.unwrap();
    let mut asked = Vec::new();
    for _ in 0..5 {
        asked.push(script.asked().await);
    }
    let session_of = |asked: &Asked| {
        let what = if asked.method == "POST" {
            asked.rpc()
        } else {
            &*asked.method
        };
        (
            what.to_owned(),
            asked.header("mcp-session-id").map(str::to_owned),
        )
    };
    let mut named: Vec<_> = asked.iter().map(session_of).collect();
    assert_eq!(
        named.remove(0),
        ("initialize".to_owned(), None),
        "CLI-LHTTP-08"
    );
    assert_eq!(named.last().unwrap().0, "DELETE", "CLI-LHTTP-09");
    named.sort();
    let session = Some("s-1".to_owned());
    let expected = ["DELETE", "GET", "notifications/initialized", "tools/call"];
    let expected = expected.map(|name| (name.to_owned(), session.clone()));
    assert_eq!(named, expected, "CLI-LHTTP-07");
    assert_eq!(asked[0].header("mcp-protocol-version"), None);
    for asked in &asked[1..] {
        let version = asked.header("mcp-protocol-version");
        assert_eq!(version, Some("2025-11-25"), "CLI-LHTTP-10: {asked:?}");
        assert_eq!(asked.header("mcp-method"), None);
        let accept = asked.header("accept").unwrap();
        assert!(
            accept.contains("text/event-stream"),
            "CLI-HTTP-02, CLI-LHTTP-05: {asked:?}"
        );
    }
    assert!(
        !format!("{:?}", dialog.session).contains("s-1"),
        "CLI-LHTTP-07"
    );
}

#[tokio::test]
async fn a_session_that_has_expired_can_be_begun_anew() {
    for body in [
        "",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no"}}"#,
    ] {
        let mut calls = 0;
        let mut script = Script::new(move |asked| {
            calls += usize::from(asked.rpc() == "tools/call");
            match asked.rpc() {
                "tools/call" if calls == 1 => Told::response(404, "", body),
                _ => usual(asked),
            }
        })
        .await;
        let dialog = Dialog::legacy(&script.url).await;
        for id in 1..3 {
            let lost = dialog.send(add(id)).await;
            assert!(
                matches!(lost, Err(ClientError::SessionExpired)),
                "CLI-LHTTP-08: {lost:?}"
            );
        }
        script.asked_to("initialize").await;
        dialog.initialize().await.unwrap();
        let asked = script.asked_to("initialize").await;
        assert_eq!(asked.header("mcp-session-id"), None, "CLI-LHTTP-08");
        dialog.send(add(3)).await.unwrap();
        let asked = script.asked_to("tools/call").await;
        assert_eq!(asked.body["id"], 3, "none was sent in between");
        assert_eq!(asked.header("mcp-session-id"), Some("s-1"), "CLI-LHTTP-07");
    }
}

#[tokio::test]
async fn only_what_may_be_cancelled_is_cancelled() {
    let mut kept = Vec::new();
    let mut script = Script::new(move |asked| {
        if asked.rpc() == "tools/call" {
            let (told, more) = Told::open_stream(": x\n\n");
            kept.push(more);
            return told;
        }
        usual(asked)
    })
    .await;
    let dialog = Dialog::legacy(&script.url).await;
    let mut begins = add(1);
    begins.cancellable = false;
    for request in [begins, add(2)] {
        let id = request.id;
        let call = dialog.begin(request);
        assert_eq!(script.asked_to("tools/call").await.body["id"], id);
        call.abort();
        script.left.notified().await;
    }
    let asked = script.asked_to("notifications/cancelled").await;
    assert_eq!(
        asked.body["params"],
        json!({"requestId": 2}),
        "CLI-LHTTP-04"
    );
    assert_eq!(asked.header("mcp-session-id"), Some("s-1"), "CLI-LHTTP-07");
}

#[tokio::test]
async fn the_id_of_a_session_is_visible_ascii() {
    for id in ["", "a b", "\u{e6}"] {
        let script = Script::new(move |asked| {
            let result = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": {}});
            let headers = format!("content-type: application/json\r\nmcp-session-id: {id}");
            Told::response(200, &headers, &result.to_string())
        })
        .await;
        let result = Dialog::with(&script.url).send(initialize()).await;
        assert!(
            matches!(result, Err(ClientError::Protocol(_))),
            "{id}: {result:?}"
        );
    }
}
