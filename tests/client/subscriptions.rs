//! Subscriptions to changes: their retries, and their end.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::split;
use treenail::client::{ClientLimits, Session};
use treenail::jsoncall::JsoncallSession;
use treenail::prelude::*;
use treenail::schema::SubscriptionFilter;

use crate::script::{Reply, answer, scripted, scripted_with_limits, server};

/// Reply of a modern server that announces changes of its tools.
fn discovered_with_changes(message: &Value) -> Reply {
    let result = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": true}},
    });
    Reply::result(message, &result)
}

/// Line of the acknowledgement of a subscription to the tools.
fn acknowledgement(listen: &Value) -> String {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": listen["id"]});
    let acknowledged = json!({
        "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": meta, "notifications": {"toolsListChanged": true}},
    });
    acknowledged.to_string()
}

#[tokio::test(start_paused = true)]
async fn subscriptions_that_end_at_once_are_retried_with_backoff() {
    const HOUR: Duration = Duration::from_secs(60 * 60);

    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered_with_changes(message),
        Some("subscriptions/listen") => Reply::Lines(vec![
            acknowledgement(message),
            answer(message, &json!({"resultType": "complete"})),
        ]),
        _ => Reply::nothing(),
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    tokio::time::sleep(HOUR).await;
    let opened = received.methods().len() - 1;
    // The backoff grows to 32 s, half of it random. Without it, there are thousands of subscriptions.
    assert!((100..=240).contains(&opened), "{opened}");
    client.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn only_a_server_without_subscriptions_is_not_asked_again() {
    const MINUTE: Duration = Duration::from_secs(60);

    for (code, retries) in [(-32603, true), (-32601, false)] {
        let mut refusals = 3;
        let (session, received) = scripted(move |message| match message["method"].as_str() {
            Some("server/discover") => discovered_with_changes(message),
            Some("subscriptions/listen") if refusals > 0 => {
                refusals -= 1;
                Reply::error(message, &json!({"code": code, "message": "no"}))
            }
            Some("subscriptions/listen") => Reply::Lines(vec![acknowledgement(message)]),
            Some("tools/list") => {
                let tools = json!({"resultType": "complete", "tools": [], "ttlMs": 3_600_000});
                Reply::result(message, &tools)
            }
            _ => Reply::nothing(),
        });
        let client = McpClient::builder().session(session).build().await.unwrap();
        client.tools().await.unwrap();
        tokio::time::sleep(MINUTE).await;
        client.tools().await.unwrap();
        let count = |method: &str| {
            let methods = received.methods();
            methods.iter().filter(|it| *it == method).count()
        };
        assert_eq!(
            count("subscriptions/listen"),
            if retries { 4 } else { 1 },
            "CLI-SUB-06"
        );
        // Changes before the subscription are unknown.
        assert_eq!(count("tools/list"), if retries { 2 } else { 1 });
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_subscription_ends_when_the_server_cancels_it() {
    let mut listen = Value::Null;
    let (session, _) = scripted(move |message| match message["method"].as_str() {
        Some("server/discover") => discovered_with_changes(message),
        Some("subscriptions/listen") => {
            listen = message["id"].clone();
            Reply::Lines(vec![acknowledgement(message)])
        }
        Some("tools/call") => {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": listen});
            let changed = json!({
                "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
                "params": {"_meta": meta},
            });
            let cancelled = json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": {"requestId": listen},
            });
            let answer = answer(message, &json!({"resultType": "complete", "content": []}));
            Reply::Lines(vec![changed.to_string(), cancelled.to_string(), answer])
        }
        _ => Reply::nothing(),
    });
    let session = McpClientSession::builder().session(session);
    let session = session.build().await.unwrap();
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    let mut subscription = session.subscriptions_listen(&filter).await.unwrap();
    session.tools_call("a", ()).await.unwrap();
    let first = subscription.next().await.unwrap().unwrap();
    assert_eq!(first.method, "notifications/tools/list_changed");
    assert!(subscription.next().await.is_none(), "SRV-SUB-08, AMB-01");
}

#[tokio::test]
async fn an_open_subscription_leaves_room_for_requests() {
    let reply = |message: &Value| match message["method"].as_str() {
        Some("server/discover") => discovered_with_changes(message),
        Some("subscriptions/listen") => Reply::Lines(vec![acknowledgement(message)]),
        _ => Reply::result(message, &json!({"resultType": "complete", "tools": []})),
    };
    let limits = ClientLimits::default().requests_in_flight(1);
    let (reader, writer) = split(server(reply).0);
    let jsoncall: Arc<dyn Session> =
        Arc::new(JsoncallSession::with_limits(reader, writer, &limits));
    let sessions = [scripted_with_limits(&limits, reply).0, jsoncall];
    for session in sessions {
        let builder = McpClientSession::builder().session(session);
        let session = builder.limits(limits.clone()).build().await.unwrap();
        let filter = SubscriptionFilter::new().with_tools_list_changed(true);
        let _open = [
            session.subscriptions_listen(&filter).await.unwrap(),
            session.subscriptions_listen(&filter).await.unwrap(),
        ];
        session.tools_list(None).await.unwrap();
    }
}

#[tokio::test]
async fn each_subscription_has_its_own_notifications_and_its_own_end() {
    let mut listens = Vec::new();
    let (session, received) = scripted(move |message| match message["method"].as_str() {
        Some("server/discover") => discovered_with_changes(message),
        Some("subscriptions/listen") => {
            listens.push(message["id"].clone());
            Reply::Lines(vec![acknowledgement(message)])
        }
        Some("tools/call") => {
            let changed = |listen: &Value, list: &str| {
                let meta = json!({"io.modelcontextprotocol/subscriptionId": listen});
                let method = format!("notifications/{list}/list_changed");
                json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": meta}}).to_string()
            };
            Reply::Lines(vec![
                changed(&listens[1], "prompts"),
                changed(&listens[0], "tools"),
                answer(message, &json!({"resultType": "complete", "content": []})),
            ])
        }
        _ => Reply::nothing(),
    });
    let builder = McpClientSession::builder().session(session);
    let session = builder.build().await.unwrap();
    let filter = SubscriptionFilter::new()
        .with_tools_list_changed(true)
        .with_prompts_list_changed(true);
    let mut first = session.subscriptions_listen(&filter).await.unwrap();
    let mut second = session.subscriptions_listen(&filter).await.unwrap();
    session.tools_call("a", ()).await.unwrap();
    let method = first.next().await.unwrap().unwrap().method;
    assert_eq!(method, "notifications/tools/list_changed", "CLI-STDIO-06");
    let method = second.next().await.unwrap().unwrap().method;
    assert_eq!(method, "notifications/prompts/list_changed", "CLI-STDIO-06");
    drop(second);
    let all = loop {
        let all = received.all();
        if all.last().unwrap()["method"] == "notifications/cancelled" {
            break all;
        }
        tokio::task::yield_now().await;
    };
    let listens = all.iter();
    let listens = listens.filter(|message| message["method"] == "subscriptions/listen");
    let ids: Vec<_> = listens.map(|message| &message["id"]).collect();
    assert_eq!(
        &all.last().unwrap()["params"]["requestId"],
        ids[1],
        "CLI-SUB-04"
    );
}
