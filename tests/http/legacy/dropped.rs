//! Streams that are resumed after an event that is no longer stored.

use std::time::Duration;

use serde_json::{Value, json};
use treenail::Limits;
use treenail::http::{HttpBody, HttpService, http_service};
use treenail::limits::HttpLimits;
use treenail::prelude::*;
use treenail::schema::Revision;

use super::{Client, next_events};
use crate::client::messages;
use crate::fixture::builder;

/// Reports progress, and once more after a minute.
#[mcp_tool]
async fn talk(cx: &Context) -> String {
    for step in 1..=20 {
        cx.progress(step).await;
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    cx.progress(21).await;
    "talked".to_owned()
}

/// Returns a service whose sessions store few events.
fn forgetful_service() -> HttpService {
    let limits = Limits::default().http(HttpLimits::default().session_events(10));
    let server = builder().tools(tools![talk]).limits(limits);
    http_service(server.build().unwrap())
}

/// Fills the store of a session, so that it drops the events of other streams.
async fn drop_events(client: &Client) {
    let count = client.tool(2, "count", &json!({"to": 30}));
    assert_eq!(client.send(count).await.status, 200);
}

/// Opens the shared stream of a client with a subscription. Returns its body, and the id of its first event.
async fn listen(client: &Client) -> (HttpBody, String) {
    let subscribe = client.request(1, "resources/subscribe", &json!({"uri": "notes://7"}));
    assert_eq!(client.send(subscribe).await.status, 200);
    let mut body = client.open(client.get()).await;
    let first = next_events(&mut body).await.remove(0).0;
    (body, first)
}

/// Reads a stream until its next keep-alive. Returns the id of its last event, and the methods of its messages.
async fn receive(body: &mut HttpBody) -> (String, Vec<String>) {
    let (mut last, mut methods) = (String::new(), Vec::new());
    loop {
        let found = next_events(body).await;
        if found.is_empty() {
            return (last, methods);
        }
        for (id, data) in found {
            last = id;
            // A priming event has no data.
            if !data.is_empty() {
                let message: Value = serde_json::from_str(&data).unwrap();
                methods.push(message["method"].as_str().unwrap().to_owned());
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_events_were_dropped_is_resumed() {
    let service = forgetful_service();
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let (mut body, first) = listen(&client).await;
    for _ in 0..20 {
        service.server().resource_updated("notes://7");
        assert_eq!(next_events(&mut body).await.len(), 1);
    }
    drop(body);
    drop_events(&client).await;
    let mut body = client.open(client.get().with("last-event-id", first)).await;
    receive(&mut body).await;
    service.server().resource_updated("notes://7");
    let (_, found) = receive(&mut body).await;
    assert_eq!(found, ["notifications/resources/updated"], "SRV-LHTTP-11");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_events_were_dropped_is_resumed() {
    let service = forgetful_service();
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let mut body = client.open(client.tool(1, "talk", &json!({}))).await;
    let first = next_events(&mut body).await.remove(0).0;
    // Until the first keep-alive.
    while !next_events(&mut body).await.is_empty() {}
    drop(body);
    drop_events(&client).await;
    let get = client.get().with("last-event-id", first);
    let rest = messages(&client.send(get).await.body);
    let result = &rest.last().unwrap()["result"];
    assert_eq!(
        result["content"][0]["text"], "talked",
        "SRV-LHTTP-10: {rest:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn subscriptions_count_as_changed_after_dropped_events() {
    let service = forgetful_service();
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let (mut body, first) = listen(&client).await;
    service.server().resource_updated("notes://7");
    assert_eq!(next_events(&mut body).await.len(), 1);
    drop(body);
    drop_events(&client).await;
    // The client has not received the notification, which is no longer stored.
    let get = client.get().with("last-event-id", first);
    let mut body = client.open(get).await;
    let (last, found) = receive(&mut body).await;
    assert_eq!(found, ["notifications/resources/updated"], "SRV-LHTTP-11");
    drop(body);
    // A client that has received it is not notified again.
    drop_events(&client).await;
    let get = client.get().with("last-event-id", last);
    let mut body = client.open(get).await;
    let (_, found) = receive(&mut body).await;
    assert_eq!(found, [""; 0]);
}
