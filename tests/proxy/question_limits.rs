//! Requests of hostile servers for their clients: too many, with one id, and for calls that have ended.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use treenail::prelude::*;
use treenail::proxy::ProxyLimits;

use crate::question_owners::raw;
use crate::questions::{accepting, asking, settle};
use crate::script::{legacy_server, text, tools};
use crate::station::{LEGACY, MODERN, client_of, gateway, remote, station};
use crate::waiting_calls::slow_user;

#[tokio::test]
async fn open_questions_of_a_call_are_bounded() {
    let (gateway, proxy) = gateway();
    proxy.mount(asking(60)).unwrap().connected().await;
    let (asked, answer) = (Arc::default(), Arc::default());
    let client = slow_user(client_of(&gateway, LEGACY), &asked, &answer)
        .build()
        .await
        .unwrap();
    // The user never answers. The server answers the call after the first refusal.
    let result = client.call_tool("script.ask", ()).await.unwrap();
    assert_eq!(
        result.as_text(),
        Some("too many requests of the server for this call are open")
    );
}

#[tokio::test]
async fn a_question_with_the_id_of_an_open_one_is_refused() {
    let call: Arc<Mutex<Option<Value>>> = Arc::default();
    let refused: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&refused);
    let server = legacy_server(&tools(&["ask"]), move |message, line| {
        if message["method"] == "tools/call" {
            *call.lock().unwrap() = Some(message.clone());
            for _ in 0..2 {
                line.send(&json!({
                    "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                    "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
                }));
            }
        } else if let Some(error) = message.get("error") {
            let error = error["message"].as_str().unwrap();
            noted.lock().unwrap().push(error.to_owned());
        } else if let Some(action) = message["result"]["action"].as_str() {
            line.answer(call.lock().unwrap().as_ref().unwrap(), &text(action));
        }
        true
    });
    let (gateway, proxy) = gateway();
    proxy.mount(server).unwrap().connected().await;
    let (asked, answer) = (Arc::default(), Arc::default());
    let client = slow_user(client_of(&gateway, LEGACY), &asked, &answer)
        .build()
        .await
        .unwrap();
    let call = tokio::spawn(client.session().tools_call("script.ask", ()).into_future());
    asked.notified().await;
    settle().await;
    answer.notify_one();
    let result = call.await.unwrap().unwrap();
    assert_eq!(result.as_text(), Some("accept"));
    assert_eq!(
        *refused.lock().unwrap(),
        ["a request of the server with this id is open"]
    );
}

#[tokio::test]
async fn a_question_for_a_cancelled_call_reaches_no_other_client_after_many_calls() {
    let (gateway, proxy) = gateway();
    proxy.mount(asking(1)).unwrap().connected().await;
    let asked = Arc::default();
    let one = client_of(&gateway, LEGACY).build().await.unwrap();
    let two = accepting(client_of(&gateway, LEGACY), &asked)
        .build()
        .await
        .unwrap();
    let start = |client: &McpClient| {
        tokio::spawn(client.session().tools_call("script.idle", ()).into_future())
    };
    let cancelled = start(&one);
    settle().await;
    cancelled.abort();
    settle().await;
    for _ in 0..300 {
        let cancelled = start(&two);
        settle().await;
        cancelled.abort();
        settle().await;
    }
    let result = two.call_tool("script.ask", ()).await.unwrap();
    assert!(
        result
            .as_text()
            .unwrap()
            .contains("ended less than a minute ago"),
        "{result:?}"
    );
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_malformed_answer_ends_its_call_for_the_questions_of_other_clients() {
    for malformed in [
        r#""result":3"#,
        r#""result":{"content":[}"#,
        r#""error":{"code":"none"}"#,
    ] {
        for caller in [LEGACY, MODERN] {
            let call: Arc<Mutex<Option<Value>>> = Arc::default();
            let server = legacy_server(&tools(&["bad", "ask"]), move |message, line| {
                if message["params"]["name"] == "bad" {
                    let id = &message["id"];
                    line.send_text(format!(r#"{{"jsonrpc":"2.0","id":{id},{malformed}}}"#));
                } else if message["params"]["name"] == "ask" {
                    *call.lock().unwrap() = Some(message.clone());
                    line.send(&json!({
                        "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                        "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
                    }));
                } else if message["id"] == "q" {
                    let call = call.lock().unwrap().take();
                    line.answer(&call.unwrap(), &text(&message.to_string()));
                }
                true
            });
            let (gateway, proxy) = gateway();
            proxy.mount(server).unwrap().connected().await;
            let one = client_of(&gateway, caller).build().await.unwrap();
            let asked = Arc::default();
            let two = accepting(client_of(&gateway, caller), &asked)
                .build()
                .await
                .unwrap();
            let failed = one.call_tool("script.bad", ()).await.unwrap();
            assert_eq!(failed.is_error, Some(true), "{caller} {malformed}");
            let result = two.call_tool("script.ask", ()).await.unwrap();
            let answer = result.as_text().unwrap();
            assert!(answer.contains("accept"), "{caller} {malformed}: {answer}");
        }
    }
}

#[tokio::test]
async fn waiting_calls_of_one_client_leave_places_for_others() {
    let (station, _) = station();
    let (gateway, proxy) = gateway();
    let limits = ProxyLimits::default()
        .waiting_calls(3)
        .waiting_calls_per_client(1);
    let proxy = proxy.limits(limits);
    // Over one connection to a server, a question that may be for several clients reaches none.
    for name in ["one", "two"] {
        let mounted = proxy.mount(remote(name, &station, LEGACY)).unwrap();
        mounted.connected().await;
    }
    // No user answers, so the calls wait.
    let first = raw(&gateway, "anna", json!({"name": "one.book"})).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    let refused = raw(&gateway, "anna", json!({"name": "two.book"})).await;
    assert_eq!(refused["isError"], true, "{refused}");
    let reason = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        reason.contains("too many calls of this client wait"),
        "{reason}"
    );
    let other = raw(&gateway, "eve", json!({"name": "two.book"})).await;
    assert_eq!(other["resultType"], "input_required", "{other}");
    // A call that continues may wait again.
    let key = first["inputRequests"].as_object().unwrap().keys().next();
    let next = json!({
        "name": "one.book", "requestState": first["requestState"],
        "inputResponses": {key.unwrap(): {"action": "accept", "content": {"nights": 2}}},
    });
    let next = raw(&gateway, "anna", next).await;
    assert_eq!(next["resultType"], "input_required", "{next}");
}

#[tokio::test]
async fn an_answer_reaches_its_server_although_the_table_is_full() {
    let (station, _) = station();
    let (gateway, proxy) = gateway();
    // Mounts share the table, and have limits of their own.
    let small = proxy
        .clone()
        .limits(ProxyLimits::default().waiting_calls(1));
    small.mount(asking(1)).unwrap().connected().await;
    let other = proxy.mount(remote("two", &station, LEGACY)).unwrap();
    other.connected().await;
    let first = raw(&gateway, "anna", json!({"name": "script.ask"})).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    let second = raw(&gateway, "eve", json!({"name": "two.book"})).await;
    assert_eq!(second["resultType"], "input_required", "{second}");
    let key = first["inputRequests"].as_object().unwrap().keys().next();
    let next = json!({
        "name": "script.ask", "requestState": first["requestState"],
        "inputResponses": {key.unwrap(): {"action": "accept"}},
    });
    let result = raw(&gateway, "anna", next).await;
    assert_eq!(result["content"][0]["text"], "accept", "{result}");
}
