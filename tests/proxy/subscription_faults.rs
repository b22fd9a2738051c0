//! Subscriptions that a server refuses at first: the proxy subscribes again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use treenail::client::ClientLimits;
use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote};
use treenail::schema::Revision;

use crate::questions::settle;
use crate::script::{Line, scripted, text, tools};
use crate::station::{LEGACY, MODERN, client_of, gateway};

pub(crate) const REPORT: &str = "data://report";

/// Longest wait for a message. The clock is paused, so a message that does not arrive costs no time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60 * 60);

pub(crate) async fn next(messages: &mut UnboundedReceiver<String>) -> Option<String> {
    timeout(PATIENCE, messages.recv()).await.ok().flatten()
}

fn answer_with_error(message: &Value, line: &Line) {
    let error = json!({"code": -32603, "message": "overloaded"});
    line.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
}

/// Answers of a server with the resource [`REPORT`], except for subscriptions.
pub(crate) fn answer(message: &Value, line: &Line) {
    let mut result = json!({
        "protocolVersion": "2025-11-25", "serverInfo": {"name": "script", "version": "1"},
        "supportedVersions": ["2026-07-28"], "resultType": "complete", "ttlMs": 0, "cacheScope": "public",
        "capabilities": {"resources": {"subscribe": true}, "tools": {}, "logging": {}},
        "resources": [{"name": "report", "uri": REPORT}, {"name": "other", "uri": "data://other"}],
        "resourceTemplates": [], "tools": tools(&["good"]),
    });
    if message["method"] == "tools/call" {
        result = text("good");
    }
    if message.get("id").is_some() {
        line.answer(message, &result);
    }
}

/// Server that refuses the first `refusals` subscriptions to [`REPORT`]. It sends the method of each to the receiver.
fn refusing(revision: Revision, refusals: usize) -> (Remote, UnboundedReceiver<String>) {
    let (attempts, receiver) = unbounded_channel();
    let count = Arc::new(AtomicUsize::new(0));
    let remote = Remote::new("script", move || {
        let (attempts, count) = (attempts.clone(), Arc::clone(&count));
        let react = move |message: &Value, line: &Line| {
            react(message, line, &attempts, &|| {
                count.fetch_add(1, Ordering::SeqCst) >= refusals
            });
            true
        };
        scripted(Box::new(react), &ClientLimits::default()).protocol_version(revision)
    });
    (remote, receiver)
}

fn react(
    message: &Value,
    line: &Line,
    attempts: &UnboundedSender<String>,
    accepts: &dyn Fn() -> bool,
) {
    let method = message["method"].as_str().unwrap_or_default();
    let is_listen = method == "subscriptions/listen";
    if !is_listen && method != "resources/subscribe" {
        return answer(message, line);
    }
    let wants_report = message["params"].to_string().contains(REPORT);
    if wants_report {
        attempts.send(method.to_owned()).unwrap();
        if !accepts() {
            return answer_with_error(message, line);
        }
    }
    if is_listen {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
        line.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": meta, "notifications": message["params"]["notifications"]},
        }));
    } else {
        line.answer(message, &json!({}));
    }
}

/// Client of a proxy with a [`refusing`] server, the receiver of the server, and the proxy.
async fn client_of_refusing(
    revision: Revision,
    refusals: usize,
) -> (McpClient, UnboundedReceiver<String>, Proxy) {
    let (remote, attempts) = refusing(revision, refusals);
    let (gateway, proxy) = gateway();
    proxy.mount(remote).unwrap().connected().await;
    settle().await;
    let client = client_of(&gateway, LEGACY).build().await.unwrap();
    (client, attempts, proxy)
}

#[tokio::test(start_paused = true)]
async fn a_failed_subscription_is_tried_again() {
    for revision in [LEGACY, MODERN] {
        let (client, mut attempts, _proxy) = client_of_refusing(revision, 3).await;
        let session = client.session();
        let mut notifications = session.notifications();
        session.resources_subscribe(REPORT).await.unwrap();
        for attempt in 0..4 {
            assert!(next(&mut attempts).await.is_some(), "{revision} {attempt}");
        }
        // Updates before the subscription are unknown.
        let updated = async {
            while let Some(notification) = notifications.next().await {
                if notification.method == "notifications/resources/updated" {
                    return notification.params;
                }
            }
            String::new()
        };
        let updated = timeout(PATIENCE, updated).await;
        assert!(updated.is_ok_and(|params| params.contains(REPORT)));
        assert_eq!(next(&mut attempts).await, None, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn other_subscriptions_do_not_hasten_the_next_attempt() {
    let (client, mut attempts, _proxy) = client_of_refusing(LEGACY, usize::MAX).await;
    let session = client.session();
    session.resources_subscribe(REPORT).await.unwrap();
    assert!(next(&mut attempts).await.is_some());
    for _ in 0..5 {
        session.resources_subscribe("data://other").await.unwrap();
        settle().await;
        session.resources_unsubscribe("data://other").await.unwrap();
        settle().await;
    }
    assert!(attempts.try_recv().is_err());
    assert!(next(&mut attempts).await.is_some(), "it is still tried");
}

#[tokio::test(start_paused = true)]
async fn a_failed_subscription_is_not_tried_again_once_it_is_not_wanted() {
    for revision in [LEGACY, MODERN] {
        let (client, mut attempts, _proxy) = client_of_refusing(revision, usize::MAX).await;
        let session = client.session();
        session.resources_subscribe(REPORT).await.unwrap();
        for attempt in 0..3 {
            assert!(next(&mut attempts).await.is_some(), "{revision} {attempt}");
        }
        session.resources_unsubscribe(REPORT).await.unwrap();
        settle().await;
        while attempts.try_recv().is_ok() {}
        assert_eq!(next(&mut attempts).await, None, "{revision}");
    }
}
