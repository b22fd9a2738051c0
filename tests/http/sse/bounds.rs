//! How many there may be, and how long they may be.

use serde_json::json;
use treenail::schema::Revision;
use treenail::{HttpLimits, Limits, SsePaths, http_service};

use super::{Client, get, service_of, service_within};
use crate::fixture::{Desk, builder_of};

fn two() -> Limits {
    Limits::default().http(HttpLimits::default().sessions(2))
}

#[tokio::test]
async fn streams_without_a_handshake_end_for_new_ones() {
    let service = service_within(two());
    let busy = Client::begin(&service, Revision::V2024_11_05).await;
    let mut idle = Client::open(&service).await;
    for _ in 0..10 {
        let next = Client::open(&service).await;
        assert!(idle.stream().event().await.is_none(), "the oldest ends");
        idle = next;
        busy.ping().await.is_accepted("who is at work stays");
    }
}

#[tokio::test]
async fn sessions_of_both_transports_count_together() {
    let service = service_within(two());
    let first = Client::begin(&service, Revision::V2024_11_05).await;
    let _second = Client::begin(&service, Revision::V2024_11_05).await;
    assert_eq!(get().send(&service).await.status, 503);
    drop(first);
    crate::legacy::Client::begin(&service, Revision::V2025_11_25).await;
}

#[tokio::test]
async fn calls_of_a_session_are_bounded() {
    let desk = Desk::default();
    let limits = Limits::default().calls_in_flight(1);
    let server = builder_of(&desk).limits(limits).build().unwrap();
    let service = http_service(server).legacy_sse(SsePaths::default());
    let client = Client::begin(&service, Revision::V2024_11_05).await;
    client.tool(1, "wait", &json!({})).await;
    let params = json!({"name": "add", "arguments": {"a": 2, "b": 3}});
    let second = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    assert_eq!(client.send(&second).await.status, 503);
    client.ping().await.is_accepted("what is no call is served");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_stalls_loses_its_session() {
    let desk = Desk::default();
    let service = service_of(&desk);
    let client = Client::begin(&service, Revision::V2024_11_05).await;
    client.tool(1, "flood", &json!({})).await;
    // Nothing is read; the paused clock goes on while nothing happens.
    desk.ended.notified().await;
    assert_eq!(client.ping().await.status, 404);
}
