//! Limits on sessions, calls and stalled readers.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use serde_json::{Value, json};
use tokio::time::timeout;
use treenail::Limits;
use treenail::http::{SsePaths, http_service};
use treenail::limits::HttpLimits;
use treenail::schema::Revision;

use super::{Client, get, service_of, service_within};
use crate::fixture::{Desk, builder_of};

/// Waker whose copies can be counted.
struct Counted;

impl Wake for Counted {
    fn wake(self: Arc<Self>) {}
}

fn two() -> Limits {
    Limits::default().http(HttpLimits::default().sessions(2))
}

#[tokio::test]
async fn streams_without_a_handshake_are_evicted_for_new_ones() {
    let service = service_within(two());
    let busy = Client::start(&service, Revision::V2024_11_05).await;
    let mut idle = Client::open(&service).await;
    for _ in 0..10 {
        let next = Client::open(&service).await;
        assert!(
            idle.stream().event().await.is_none(),
            "the oldest stream ends"
        );
        idle = next;
        busy.ping().await.expect_accepted("active sessions stay");
    }
}

#[tokio::test]
async fn sessions_of_both_transports_count_together() {
    let service = service_within(two());
    let first = Client::start(&service, Revision::V2024_11_05).await;
    let _second = Client::start(&service, Revision::V2024_11_05).await;
    assert_eq!(get().send(&service).await.status, 503);
    drop(first);
    crate::legacy::Client::start(&service, Revision::V2025_11_25).await;
}

#[tokio::test]
async fn calls_of_a_session_are_limited() {
    let desk = Desk::default();
    let limits = Limits::default().calls_in_flight(1);
    let server = builder_of(&desk).limits(limits).build().unwrap();
    let service = http_service(server).legacy_sse(SsePaths::default());
    let client = Client::start(&service, Revision::V2024_11_05).await;
    client.tool(1, "wait", &json!({})).await;
    let params = json!({"name": "add", "arguments": {"a": 2, "b": 3}});
    let second = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    assert_eq!(client.send(&second).await.status, 503);
    client
        .ping()
        .await
        .expect_accepted("what is no call is served");
}

#[tokio::test(start_paused = true)]
async fn a_stalled_reader_loses_its_session() {
    let desk = Desk::default();
    let service = service_of(&desk);
    let client = Client::start(&service, Revision::V2024_11_05).await;
    client.tool(1, "flood", &json!({})).await;
    // The client does not read. The paused clock advances while all tasks wait.
    desk.ended.notified().await;
    assert_eq!(client.ping().await.status, 404);
}

/// Sends pings until the stream, which is not being read, has no room.
async fn fill(client: &Client) {
    for _ in 0..16 {
        client.ping().await.expect_accepted("there is room");
    }
}

#[tokio::test]
async fn posts_that_are_given_up_leave_nothing_behind() {
    let service = super::service();
    let client = Client::start(&service, Revision::V2024_11_05).await;
    fill(&client).await;
    for _ in 0..1_000 {
        let count = Arc::new(Counted);
        let waker: Waker = Arc::clone(&count).into();
        {
            let mut post = pin!(client.ping());
            let polled = post.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
        }
        drop(waker);
        assert_eq!(Arc::strong_count(&count), 1, "its waker is dropped");
        // Otherwise the budget of this task would be exhausted.
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_stalls_across_posts_loses_its_session() {
    let service = super::service();
    let client = Client::start(&service, Revision::V2024_11_05).await;
    fill(&client).await;
    let write_timeout = HttpLimits::default().write_timeout;
    let given_up = timeout(write_timeout * 2 / 3, client.ping()).await;
    assert!(given_up.is_err(), "the post waits for room");
    let ended = timeout(write_timeout / 2, client.ping()).await;
    assert!(
        ended.is_ok(),
        "the reader has stalled for the write timeout"
    );
    assert_eq!(client.ping().await.status, 404);
}

/// Polls the posts once. The stream, which is not being read, has no room for their responses.
async fn begin<F: Future>(mut posts: Pin<&mut F>) {
    let waits = poll_fn(|context| Poll::Ready(posts.as_mut().poll(context).is_pending()));
    assert!(waits.await);
}

#[tokio::test]
async fn a_closing_server_delivers_the_responses_that_wait_for_room() {
    let service = super::service();
    let mut client = Client::start(&service, Revision::V2025_03_26).await;
    fill(&client).await;
    let mut stream = client.take_stream();
    let arguments = json!({"a": 2, "b": 3});
    let batch = json!([{"jsonrpc": "2.0", "id": 2, "method": "ping"}]);
    let mut posts = pin!(async {
        tokio::join!(
            client.ping(),
            client.tool(1, "add", &arguments),
            client.send(&batch),
        )
    });
    begin(posts.as_mut()).await;
    service.server().close();
    let read = async {
        let mut ids = Vec::new();
        while let Some((_, data)) = stream.event().await {
            let message: Value = serde_json::from_str(&data).unwrap();
            let id = message.pointer("/0/id").unwrap_or(&message["id"]);
            ids.push(id.as_i64().unwrap());
        }
        ids
    };
    let ((ping, (), batch), mut ids) = tokio::join!(posts, read);
    ping.expect_accepted("SRV-SSE-03");
    batch.expect_accepted("SRV-SSE-03");
    let mut waited = ids.split_off(16);
    waited.sort_unstable();
    assert_eq!(waited, [1, 2, 9], "all that were accepted");
}

#[tokio::test]
async fn a_closing_stream_does_not_wait_for_posts_that_are_given_up() {
    let service = super::service();
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    fill(&client).await;
    let mut stream = client.take_stream();
    let mut post = Box::pin(client.ping());
    begin(post.as_mut()).await;
    service.server().close();
    for _ in 0..16 {
        stream.message().await;
    }
    // The stream waits for the post, and is woken by its end.
    let (last, ()) = tokio::join!(stream.event(), async { drop(post) });
    assert!(last.is_none());
}

#[tokio::test]
async fn the_response_of_a_call_whose_post_is_given_up_is_sent() {
    let service = super::service();
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    fill(&client).await;
    let mut stream = client.take_stream();
    let arguments = json!({"a": 2, "b": 3});
    let mut post = Box::pin(client.tool(1, "add", &arguments));
    begin(post.as_mut()).await;
    drop(post);
    // The stream waits for it, also while it closes.
    service.server().close();
    for _ in 0..16 {
        stream.message().await;
    }
    assert_eq!(stream.message().await["id"], 1);
    assert!(stream.event().await.is_none());
}

#[tokio::test]
async fn responses_that_wait_after_their_posts_are_calls_in_flight() {
    let service = service_within(Limits::default().calls_in_flight(1));
    let client = Client::start(&service, Revision::V2024_11_05).await;
    fill(&client).await;
    let arguments = json!({"a": 2, "b": 3});
    let mut post = Box::pin(client.tool(1, "add", &arguments));
    begin(post.as_mut()).await;
    drop(post);
    let params = json!({"name": "add", "arguments": arguments});
    let second = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    assert_eq!(client.send(&second).await.status, 503);
}

#[tokio::test]
async fn responses_of_cancelled_calls_do_not_wait_on() {
    let service = service_within(Limits::default().calls_in_flight(1));
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    fill(&client).await;
    let mut stream = client.take_stream();
    let arguments = json!({"a": 2, "b": 3});
    for id in 100..110 {
        let mut post = Box::pin(client.tool(id, "add", &arguments));
        begin(post.as_mut()).await;
        // Once while its POST is open, and once after it.
        let post = (id % 2 == 0).then_some(post);
        let cancel = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}
        });
        assert_eq!(client.send(&cancel).await.status, 202);
        drop(post);
    }
    service.server().close();
    for _ in 0..16 {
        stream.message().await;
    }
    assert!(stream.event().await.is_none());
}
