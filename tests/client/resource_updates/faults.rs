//! Servers that refuse, restart or report too much.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use treenail::client::{ClientError, ClientLimits};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::{count, listening, next};
use crate::script::{Received, Reply, answer, scripted, scripted_with_limits};

/// Longer than all attempts.
const LONG: Duration = Duration::from_secs(600);

/// Connects to a modern server with this reply to `subscriptions/listen` and other methods.
async fn modern(
    mut reply: impl FnMut(&Value) -> Option<Reply> + Send + 'static,
) -> (McpClient, Received) {
    let limits = ClientLimits::default();
    let (session, received) = scripted_with_limits(&limits, move |message| {
        if message["method"] == "server/discover" {
            return crate::script::discovered(message);
        }
        reply(message).unwrap_or_else(Reply::nothing)
    });
    let client = McpClient::builder().session(session).build().await;
    (client.unwrap(), received)
}

fn updated(listen_id: &Value, uri: &str) -> String {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": listen_id});
    let params = json!({"_meta": meta, "uri": uri});
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params})
        .to_string()
}

/// Connects to a server whose first subscription ends at once, and which lacks the resource for the next `missing` ones.
async fn restarted(missing: usize) -> (McpClient, Received) {
    let mut opened = 0;
    modern(move |message| {
        if message["method"] != "subscriptions/listen" {
            return None;
        }
        opened += 1;
        if (2..2 + missing).contains(&opened) {
            let mut without = message.clone();
            without["params"]["notifications"] = json!({});
            return Some(Reply::Lines(listening(&without)));
        }
        let mut lines = listening(message);
        if opened == 1 {
            lines.push(answer(message, &json!({"resultType": "complete"})));
        }
        Some(Reply::Lines(lines))
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_again_may_lack_the_resource_for_a_while() {
    let (client, received) = restarted(2).await;
    let mut updates = client.resource_updates(["a://1"]).await.unwrap();
    let item = timeout(LONG, updates.next()).await.unwrap();
    assert_eq!(item.unwrap().unwrap(), "a://1");
    assert_eq!(count(&received, "subscriptions/listen"), 4);
    timeout(LONG, updates.next()).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn failures_of_another_kind_are_no_refusals() {
    let mut opened = 0;
    let (client, received) = modern(move |message| {
        if message["method"] != "subscriptions/listen" {
            return None;
        }
        opened += 1;
        let mut lines = listening(message);
        match opened {
            1 => lines.push(answer(message, &json!({"resultType": "complete"}))),
            2..=9 => {
                let busy = json!({"code": -32603, "message": "busy"});
                return Some(Reply::error(message, &busy));
            }
            10 => {
                let gone = json!({"code": -32002, "message": "gone"});
                return Some(Reply::error(message, &gone));
            }
            _ => {}
        }
        Some(Reply::Lines(lines))
    })
    .await;
    let mut updates = client.resource_updates(["a://1"]).await.unwrap();
    let item = timeout(LONG, updates.next()).await.unwrap();
    assert_eq!(item.unwrap().unwrap(), "a://1");
    assert_eq!(count(&received, "subscriptions/listen"), 11);
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_stays_away_ends_the_stream_with_an_error() {
    let (client, received) = restarted(usize::MAX - 2).await;
    let mut updates = client.resource_updates(["a://1"]).await.unwrap();
    let item = timeout(LONG, updates.next()).await.unwrap();
    assert!(
        matches!(item, Some(Err(ClientError::Unsupported(_)))),
        "{item:?}"
    );
    assert!(updates.next().await.is_none());
    assert_eq!(count(&received, "subscriptions/listen"), 7);
}

#[tokio::test(start_paused = true)]
async fn unread_updates_are_bounded_in_bytes() {
    let mut listen_id = Value::Null;
    let (client, _) = modern(move |message| {
        if message["method"] == "subscriptions/listen" {
            listen_id = message["id"].clone();
            return Some(Reply::Lines(listening(message)));
        }
        let uri = message["params"]["uri"].as_str().unwrap();
        let uri = format!("{uri}/{}", "x".repeat(1 << 20));
        let result =
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": []});
        Some(Reply::Lines(vec![
            updated(&listen_id, &uri),
            answer(message, &result),
        ]))
    })
    .await;
    let mut updates = client.resource_updates(["a://1"]).await.unwrap();
    for part in 0..20 {
        client
            .read_resource(&format!("a://1/{part}"))
            .await
            .unwrap();
    }
    let mut unread = Vec::new();
    while let Ok(Some(uri)) = timeout(LONG, updates.next()).await {
        unread.push(uri.unwrap());
    }
    let bytes: usize = unread.iter().map(String::len).sum();
    assert!(
        bytes <= ClientLimits::default().queued_notification_bytes,
        "{bytes}"
    );
    assert!(unread.iter().any(|uri| uri == "a://1"));
}

#[tokio::test(start_paused = true)]
async fn a_result_from_before_the_subscription_is_not_read_again() {
    let (client, received) = modern(|message| {
        if message["method"] == "subscriptions/listen" {
            return Some(Reply::Lines(listening(message)));
        }
        let result = json!({"resultType": "complete", "ttlMs": 3_600_000, "cacheScope": "private",
            "contents": [{"uri": "a://1", "text": "x"}]});
        Some(Reply::result(message, &result))
    })
    .await;
    for _ in 0..2 {
        client.read_resource("a://1").await.unwrap();
    }
    assert_eq!(count(&received, "resources/read"), 1);
    let _updates = client.resource_updates(["a://1"]).await.unwrap();
    for _ in 0..2 {
        client.read_resource("a://1").await.unwrap();
    }
    assert_eq!(count(&received, "resources/read"), 2);
}

#[tokio::test(start_paused = true)]
async fn updates_in_one_piece_with_the_acknowledgement_are_not_lost() {
    let uris: Vec<String> = (0..1100).map(|id| format!("a://{id}")).collect();
    let all = uris.clone();
    let (client, _) = modern(move |message| {
        let mut lines = listening(message);
        lines.extend(all.iter().map(|uri| updated(&message["id"], uri)));
        Some(Reply::Lines(lines))
    })
    .await;
    let mut updates = client.resource_updates(uris.clone()).await.unwrap();
    let mut missing: std::collections::BTreeSet<String> = uris.into_iter().collect();
    while !missing.is_empty() {
        missing.remove(&next(&mut updates).await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_unsubscription_does_not_keep_the_others() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("initialize") => {
            let result = json!({"protocolVersion": "2025-11-25",
                "capabilities": {"resources": {"subscribe": true}},
                "serverInfo": {"name": "script", "version": "1"}});
            Reply::result(message, &result)
        }
        Some("resources/unsubscribe") if message["params"]["uri"] == "a://1" => {
            Reply::error(message, &json!({"code": -32002, "message": "gone"}))
        }
        Some("notifications/initialized") => Reply::nothing(),
        _ => Reply::result(message, &json!({})),
    });
    let builder = McpClient::builder().session(session);
    let builder = builder.protocol_version(Revision::V2025_11_25);
    let client = builder.build().await.unwrap();
    let updates = client.resource_updates(["a://1", "a://2", "a://3"]).await;
    drop(updates.unwrap());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(count(&received, "resources/unsubscribe"), 3);
}

/// A question of the server that its earlier session leaves behind does not block one with the same id.
#[tokio::test(start_paused = true)]
async fn a_new_session_may_ask_with_the_ids_of_the_earlier_one() {
    let ask = json!({"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": {
        "mode": "form", "message": "Name?", "requestedSchema": {"type": "object", "properties": {}}}});
    let (session, received) = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => crate::script::initialized(message, "2025-11-25"),
        Some("tools/list") => {
            let tools = answer(message, &json!({"tools": []}));
            Reply::Lines(vec![ask.to_string(), tools])
        }
        _ => Reply::nothing(),
    });
    let (times, asked) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (shared, counted) = (Arc::clone(&times), Arc::clone(&asked));
    let builder = McpClient::builder().session(session);
    let client = builder
        .protocol_version(Revision::V2025_11_25)
        .on_elicit(move |_| {
            let is_first = counted.fetch_add(1, Ordering::SeqCst) == 0;
            async move {
                if is_first {
                    std::future::pending::<()>().await;
                }
                treenail::schema::ElicitResult::accept(())
            }
        })
        .wrap_session(move |session| {
            let times = Arc::clone(&shared);
            Arc::new(super::Expiring { session, times })
        });
    let client = client.build().await.unwrap();
    client.session().tools_list(None).await.unwrap();
    times.store(1, Ordering::SeqCst);
    client.session().tools_list(None).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let answers = received.all();
    let answers = answers
        .iter()
        .filter(|message| message["id"] == 0 && message.get("method").is_none());
    let answers: Vec<_> = answers
        .map(|message| message["result"]["action"].clone())
        .collect();
    assert_eq!(answers, ["accept"]);
}
