//! The bus of a replica, from its start over its failures to the end of the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use treenail::Limits;
use treenail::events::{BusFuture, EventBus, EventLink};
use treenail::http::ServeHttp as _;
use treenail::limits::EventLimits;

use super::{Engine, replica, service};
use crate::client::Post;

#[test]
fn a_bus_needs_a_runtime() {
    let error = replica(Engine::new()).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "a server with an event bus must be built on a tokio runtime"
    );
}

#[tokio::test(start_paused = true)]
async fn events_during_a_disconnection_are_published_later() {
    let engine = Engine::new();
    engine.works.send_replace(false);
    let limits = Limits::default().events(EventLimits::default().queued(2));
    let here = service(replica(engine.clone()).limits(limits));
    let mut published_messages = engine.messages.subscribe();
    let mut published =
        async || String::from_utf8(published_messages.recv().await.unwrap()).unwrap();
    for uri in ["notes://1", "notes://2", "notes://1"] {
        here.server().resource_updated(uri);
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    engine.works.send_replace(true);
    assert!(published().await.contains("notes://1"));
    assert!(published().await.contains("notes://2"));
    // An overflowing queue becomes one event: everything may have changed.
    engine.works.send_replace(false);
    tokio::time::sleep(Duration::from_secs(1)).await;
    for index in 0..1_000 {
        here.server().resource_updated(format!("notes://{index}"));
    }
    engine.works.send_replace(true);
    assert!(published().await.contains(r#""event":"everything""#));
    here.server().flush_events().await;
    assert_eq!(engine.published.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_failing_bus_is_restarted_with_exponential_backoff() {
    let engine = Engine::new();
    engine.works.send_replace(false);
    let limits =
        Limits::default().events(EventLimits::default().max_backoff(Duration::from_secs(10)));
    let here = service(replica(engine.clone()).limits(limits));
    tokio::time::sleep(Duration::from_secs(120)).await;
    let pauses = |attempts: &[Instant]| -> Vec<Duration> {
        attempts.windows(2).map(|two| two[1] - two[0]).collect()
    };
    let attempts = std::mem::take(&mut *engine.attempts.lock().unwrap());
    let mut most = Duration::from_millis(100);
    for pause in pauses(&attempts) {
        // tokio's clock has a resolution of one millisecond.
        let slack = Duration::from_millis(2);
        assert!(
            pause + slack >= most / 2 && pause <= most + slack,
            "{pause:?}, {most:?}"
        );
        most = (most * 2).min(Duration::from_secs(10));
    }
    assert!(attempts.len() >= 12, "{attempts:?}");
    // A connection of some duration resets the backoff.
    engine.works.send_replace(true);
    tokio::time::sleep(Duration::from_secs(60)).await;
    engine.attempts.lock().unwrap().clear();
    engine.works.send_replace(false);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(engine.attempts.lock().unwrap().len() >= 3);
    // The bus ends together with its server.
    drop(here);
    tokio::time::sleep(Duration::from_millis(1)).await;
    engine.attempts.lock().unwrap().clear();
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(engine.attempts.lock().unwrap().is_empty());
}

/// Bus that panics, or ends without an error.
#[derive(Debug, Default)]
struct Broken(AtomicUsize);

impl EventBus for Broken {
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        let run = self.0.fetch_add(1, Ordering::SeqCst);
        assert_ne!(run, 0, "a panic in the first run");
        Box::pin(async move {
            let message = link.next().await;
            match run {
                1 => panic!("it panics with a message that it has taken"),
                2 => return Ok(()),
                3 => return Err("it fails with a message that it has taken".into()),
                _ => {}
            }
            assert!(String::from_utf8(message).unwrap().contains("notes://7"));
            link.next().await;
            Ok(())
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_bus_that_panics_or_ends_is_restarted() {
    let broken = Arc::<Broken>::default();
    let here = service(replica(Arc::clone(&broken)));
    here.server().resource_updated("notes://7");
    here.server().flush_events().await;
    assert_eq!(
        broken.0.load(Ordering::SeqCst),
        5,
        "the message was lost in no run"
    );
    let add = Post::tool("add", json!({"a": 1, "b": 2}));
    assert_eq!(add.send(&here).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn the_last_changes_of_a_closing_replica_are_published() {
    let engine = Engine::new();
    let server = replica(engine.clone()).build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let mut published_messages = engine.messages.subscribe();
    server.close();
    server.resource_updated("notes://7");
    http.serve().await.unwrap();
    let message = published_messages
        .try_recv()
        .expect("an event is published before the shutdown");
    assert!(String::from_utf8(message).unwrap().contains("notes://7"));

    // Without an engine, the server still shuts down.
    engine.works.send_replace(false);
    let limits =
        Limits::default().events(EventLimits::default().flush_timeout(Duration::from_secs(7)));
    let server = replica(engine).limits(limits).build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    server.close();
    server.resource_updated("notes://7");
    let closed = Instant::now();
    http.serve().await.unwrap();
    assert_eq!(closed.elapsed().as_secs(), 7);
}
