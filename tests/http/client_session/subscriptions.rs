//! Subscriptions of a modern client over HTTP.

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use treenail::client::{ClientLimits, HttpClientBuilderExt as _, McpClientSession};
use treenail::schema::SubscriptionFilter;

use super::scripted_server::{Received, Response, ScriptedServer};

/// Response of a modern server, which opens subscriptions with `listen`.
pub(super) fn respond(received: &Received, listen: impl FnOnce(&str) -> Response) -> Response {
    match received.rpc() {
        "server/discover" => {
            let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": true}}});
            Response::result(received, &result)
        }
        "subscriptions/listen" => listen(&acknowledgement(&received.body["id"])),
        _ => {
            let result = json!({"resultType": "complete", "tools": []});
            Response::result(received, &result)
        }
    }
}

/// Returns the event of an acknowledgement.
fn acknowledgement(id: &Value) -> String {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
    let acknowledged = json!({"jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"notifications": {}, "_meta": meta}});
    format!("data: {acknowledged}\n\n")
}

#[tokio::test]
async fn an_acknowledgement_may_arrive_together_with_the_end() {
    let server = ScriptedServer::new(|received| {
        respond(received, |acknowledgement| {
            let end = json!({"jsonrpc": "2.0", "id": received.body["id"],
                "result": {"resultType": "complete"}});
            Response::stream(&format!("{acknowledgement}data: {end}\n\n"))
        })
    })
    .await;
    let builder = McpClientSession::builder().url(&*server.url);
    let session = builder.build().await.unwrap();
    let filter = SubscriptionFilter::new();
    let mut subscription = session.subscriptions_listen(&filter).await.unwrap();
    assert!(subscription.next().await.is_none(), "SRV-SUB-08");
}

#[tokio::test]
async fn an_open_subscription_leaves_room_for_requests() {
    let mut open: Vec<UnboundedSender<String>> = Vec::new();
    let server = ScriptedServer::new(move |received| {
        respond(received, |acknowledgement| {
            let (response, sender) = Response::open_stream(acknowledgement);
            open.push(sender);
            response
        })
    })
    .await;
    let limits = ClientLimits::default().requests_in_flight(1);
    let builder = McpClientSession::builder().url(&*server.url);
    let session = builder.limits(limits).build().await.unwrap();
    let filter = SubscriptionFilter::new();
    let _open = [
        session.subscriptions_listen(&filter).await.unwrap(),
        session.subscriptions_listen(&filter).await.unwrap(),
    ];
    session.tools_list(None).await.unwrap();
}

#[tokio::test]
async fn a_dropped_subscription_closes_its_stream() {
    let mut open: Vec<UnboundedSender<String>> = Vec::new();
    let server = ScriptedServer::new(move |received| {
        respond(received, |acknowledgement| {
            let (response, sender) = Response::open_stream(acknowledgement);
            open.push(sender);
            response
        })
    })
    .await;
    let builder = McpClientSession::builder().url(&*server.url);
    let session = builder.build().await.unwrap();
    let filter = SubscriptionFilter::new();
    let subscription = session.subscriptions_listen(&filter).await.unwrap();
    drop(subscription);
    server.disconnected.notified().await; // CLI-SUB-04
    session.tools_list(None).await.unwrap();
}
