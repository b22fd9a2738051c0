//! Replicas in one process that exchange events over a bus, and failures of the bus.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout_at};
use treenail::events::{BusFuture, EventBus, EventLink};
use treenail::http::ServeHttp as _;
use treenail::http::{HttpBody, HttpService, http_service};
use treenail::limits::EventLimits;
use treenail::server::Component;
use treenail::{Limits, Server, ServerBuilder};

use crate::client::{Post, messages, next};
use crate::fixture::builder;

/// Engine that can be disconnected.
#[derive(Clone, Debug)]
struct Engine {
    messages: broadcast::Sender<Vec<u8>>,
    works: watch::Sender<bool>,
    /// Times of connection attempts.
    attempts: Arc<Mutex<Vec<Instant>>>,
    published: Arc<AtomicUsize>,
}

impl Engine {
    fn new() -> Self {
        Self {
            messages: broadcast::channel(4).0,
            works: watch::Sender::new(true),
            attempts: Arc::default(),
            published: Arc::default(),
        }
    }

    /// Moves messages until the engine is disconnected.
    async fn move_messages(
        &self,
        link: EventLink,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut works = self.works.subscribe();
        self.attempts.lock().unwrap().push(Instant::now());
        if !*works.borrow() {
            return Err("there is no engine".into());
        }
        let mut others = self.messages.subscribe();
        link.connected();
        loop {
            tokio::select! {
                biased;
                _ = works.wait_for(|works| !works) => return Err("the engine is gone".into()),
                message = others.recv() => link.receive(&message?),
                message = link.next() => {
                    self.published.fetch_add(1, Ordering::SeqCst);
                    self.messages.send(message)?;
                }
            }
        }
    }
}

impl EventBus for Engine {
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        Box::pin(self.move_messages(link))
    }
}

fn replica(bus: impl EventBus) -> ServerBuilder {
    builder().dynamic().event_bus(bus)
}

fn service(builder: ServerBuilder) -> HttpService {
    http_service(builder.build().unwrap())
}

/// Open `subscriptions/listen` request.
struct Listening {
    body: HttpBody,
    notifications: Vec<String>,
}

impl Listening {
    /// Subscribes to the list of tools and to one resource.
    async fn start(service: &HttpService, resource: &str) -> Self {
        let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": [resource]});
        let post = Post::modern("subscriptions/listen", json!({"notifications": wanted}));
        let body = post.begin(service).await.into_body();
        let mut listening = Self {
            body,
            notifications: Vec::new(),
        };
        let first = listening.next_notification().await;
        assert_eq!(
            first, "notifications/subscriptions/acknowledged",
            "SRV-SUB-02"
        );
        listening
    }

    /// Returns the next notification: the URI of a resource update, or the method of another one.
    async fn next_notification(&mut self) -> String {
        // Longer than any backoff of a bus. The clock is paused, so the wait is short.
        let patience = Instant::now() + Duration::from_secs(600);
        while self.notifications.is_empty() {
            let bytes = timeout_at(patience, next(&mut self.body)).await;
            let bytes = bytes.expect("a notification arrives");
            let bytes = bytes.expect("the stream continues");
            let events = messages(std::str::from_utf8(&bytes).unwrap());
            self.notifications.extend(events.iter().map(|message| {
                let uri = message["params"]["uri"].as_str();
                uri.or(message["method"].as_str()).unwrap().to_owned()
            }));
        }
        self.notifications.remove(0)
    }
}

const TOOLS: &str = "notifications/tools/list_changed";

#[tokio::test(start_paused = true)]
async fn changes_on_one_replica_notify_the_subscribers_of_the_other() {
    let engine = Engine::new();
    let (here, there) = (replica(engine.clone()), replica(engine.clone()));
    let (here, there) = (service(here), service(there));
    let bystander = service(
        Server::builder("other", "1")
            .dynamic()
            .event_bus(engine.clone()),
    );
    let mut own = Listening::start(&here, "notes://1").await;
    let mut other = Listening::start(&there, "notes://2").await;
    // Subscribers are notified that they may have missed events before the bus was connected.
    for listening in [&mut own, &mut other] {
        assert_eq!(listening.next_notification().await, TOOLS);
        assert!(listening.next_notification().await.starts_with("notes://"));
    }
    here.server().resource_updated("notes://2");
    assert_eq!(other.next_notification().await, "notes://2", "SRV-SUB-04");
    there.server().resource_updated("notes://1");
    assert_eq!(own.next_notification().await, "notes://1");
    // An edit notifies the subscribers of both replicas, and changes one.
    here.server()
        .edit(|offer| offer.disable(Component::tool("add")))
        .unwrap();
    assert_eq!(own.next_notification().await, TOOLS);
    assert_eq!(other.next_notification().await, TOOLS);
    let add = || Post::tool("add", json!({"a": 1, "b": 2}));
    assert!(add().send(&here).await.body.contains("error"));
    assert_eq!(
        add().send(&there).await.json()["result"]["structuredContent"],
        3
    );
    // The bus echoes the events of a replica to itself, which must notify only once.
    here.server().resource_updated("notes://1");
    assert_eq!(own.next_notification().await, "notes://1");
    here.server().flush_events().await;
    there.server().resource_updated("notes://2");
    assert_eq!(other.next_notification().await, "notes://2");
    there
        .server()
        .edit(|offer| offer.disable(Component::tool("add")))
        .unwrap();
    assert_eq!(own.next_notification().await, TOOLS, "no echo precedes it");
    bystander.server().flush_events().await;
    assert_eq!(
        engine.published.load(Ordering::SeqCst),
        6,
        "an event is published once"
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_connection_refreshes_all_subscriptions() {
    let engine = Engine::new();
    let (here, there) = (
        service(replica(engine.clone())),
        service(replica(engine.clone())),
    );
    let mut other = Listening::start(&there, "notes://2").await;
    for _ in 0..3 {
        // After each connection, including the first one.
        assert_eq!(other.next_notification().await, TOOLS);
        assert_eq!(other.next_notification().await, "notes://2");
        engine.works.send_replace(false);
        here.server().resource_updated("notes://9");
        tokio::time::sleep(Duration::from_secs(3)).await;
        engine.works.send_replace(true);
    }
    here.server().flush_events().await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_refreshes_is_throttled() {
    const EVENTS: u32 = 1_000;
    let engine = Engine::new();
    let there = service(replica(engine.clone()));
    let mut listening = Listening::start(&there, "notes://1").await;
    assert_eq!(listening.next_notification().await, TOOLS);
    assert_eq!(listening.next_notification().await, "notes://1");
    let begun = Instant::now();
    let flood = tokio::spawn(async move {
        let message = br#"{"version":1,"server":"desk","replica":"other","event":"everything"}"#;
        for _ in 0..EVENTS {
            engine.messages.send(message.to_vec()).unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let mut notifications = 0;
    while let Ok(first) = timeout_at(
        begun + Duration::from_secs(20),
        listening.next_notification(),
    )
    .await
    {
        assert_eq!(first, TOOLS);
        assert_eq!(listening.next_notification().await, "notes://1");
        notifications += 1;
    }
    flood.await.unwrap();
    // Ten seconds of the flood, and the end.
    assert!((9..=13).contains(&notifications), "{notifications}");
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

#[test]
fn a_bus_needs_a_runtime() {
    let error = replica(Engine::new()).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "a server with an event bus must be built on a tokio runtime"
    );
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
