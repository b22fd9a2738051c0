//! Replicas in one process: what they hear of each other over a bus, and what becomes of that when the bus fails.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout_at};
use treenail::{
    BusFuture, Component, EventBus, EventLimits, EventLink, HttpBody, HttpService, Limits, Server,
    ServerBuilder, http_service,
};

use crate::client::{Post, messages, next};
use crate::fixture::builder;

/// An engine that can be cut off.
#[derive(Clone, Debug)]
struct Engine {
    messages: broadcast::Sender<Vec<u8>>,
    works: watch::Sender<bool>,
    /// When something tried to connect.
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

    /// What a bus does until the engine is cut off.
    async fn carry(&self, link: EventLink) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
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
        Box::pin(self.carry(link))
    }
}

fn replica(bus: impl EventBus) -> ServerBuilder {
    builder().dynamic().event_bus(bus)
}

fn service(builder: ServerBuilder) -> HttpService {
    http_service(builder.build().unwrap())
}

/// An open `subscriptions/listen`.
struct Listening {
    body: HttpBody,
    told: Vec<String>,
}

impl Listening {
    /// Listens to the list of tools and to one resource.
    async fn start(service: &HttpService, resource: &str) -> Self {
        let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": [resource]});
        let post = Post::modern("subscriptions/listen", json!({"notifications": wanted}));
        let body = post.begin(service).await.into_body();
        let mut listening = Self {
            body,
            told: Vec::new(),
        };
        let first = listening.hear().await;
        assert_eq!(
            first, "notifications/subscriptions/acknowledged",
            "SRV-SUB-02"
        );
        listening
    }

    /// The next notification: the URI of an update, the method of all others.
    async fn hear(&mut self) -> String {
        // Longer than any pause of a bus. The clock is paused, so it is over at once.
        let patience = Instant::now() + Duration::from_secs(600);
        while self.told.is_empty() {
            let bytes = timeout_at(patience, next(&mut self.body)).await;
            let bytes = bytes.expect("there is something to hear");
            let bytes = bytes.expect("it goes on");
            let events = messages(std::str::from_utf8(&bytes).unwrap());
            self.told.extend(events.iter().map(|message| {
                let uri = message["params"]["uri"].as_str();
                uri.or(message["method"].as_str()).unwrap().to_owned()
            }));
        }
        self.told.remove(0)
    }
}

const TOOLS: &str = "notifications/tools/list_changed";

#[tokio::test(start_paused = true)]
async fn changes_at_one_replica_are_heard_at_the_other() {
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
    // Their subscribers are told that they may have missed something before the bus was there.
    for listening in [&mut own, &mut other] {
        assert_eq!(listening.hear().await, TOOLS);
        assert!(listening.hear().await.starts_with("notes://"));
    }
    here.server().resource_updated("notes://2");
    assert_eq!(other.hear().await, "notes://2", "SRV-SUB-04");
    there.server().resource_updated("notes://1");
    assert_eq!(own.hear().await, "notes://1");
    // An edit is told at both, and made at one.
    here.server()
        .edit(|offer| offer.disable(Component::tool("add")))
        .unwrap();
    assert_eq!(own.hear().await, TOOLS);
    assert_eq!(other.hear().await, TOOLS);
    let add = || Post::tool("add", json!({"a": 1, "b": 2}));
    assert!(add().send(&here).await.body.contains("error"));
    assert_eq!(
        add().send(&there).await.json()["result"]["structuredContent"],
        3
    );
    // What its own replica has told comes back over the bus, and is told once.
    here.server().resource_updated("notes://1");
    assert_eq!(own.hear().await, "notes://1");
    here.server().flush_events().await;
    there.server().resource_updated("notes://2");
    assert_eq!(other.hear().await, "notes://2");
    there
        .server()
        .edit(|offer| offer.disable(Component::tool("add")))
        .unwrap();
    assert_eq!(own.hear().await, TOOLS, "and no echo before it");
    bystander.server().flush_events().await;
    assert_eq!(
        engine.published.load(Ordering::SeqCst),
        6,
        "an event is published once"
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_may_have_changed() {
    let engine = Engine::new();
    let (here, there) = (
        service(replica(engine.clone())),
        service(replica(engine.clone())),
    );
    let mut other = Listening::start(&there, "notes://2").await;
    for _ in 0..3 {
        // With each connection, the first one too.
        assert_eq!(other.hear().await, TOOLS);
        assert_eq!(other.hear().await, "notes://2");
        engine.works.send_replace(false);
        here.server().resource_updated("notes://9");
        tokio::time::sleep(Duration::from_secs(3)).await;
        engine.works.send_replace(true);
    }
    here.server().flush_events().await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_refreshes_is_told_once_in_a_while() {
    const EVENTS: u32 = 1_000;
    let engine = Engine::new();
    let there = service(replica(engine.clone()));
    let mut listening = Listening::start(&there, "notes://1").await;
    assert_eq!(listening.hear().await, TOOLS);
    assert_eq!(listening.hear().await, "notes://1");
    let begun = Instant::now();
    let flood = tokio::spawn(async move {
        let message = br#"{"version":1,"server":"desk","replica":"other","event":"everything"}"#;
        for _ in 0..EVENTS {
            engine.messages.send(message.to_vec()).unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let mut told = 0;
    while let Ok(first) = timeout_at(begun + Duration::from_secs(20), listening.hear()).await {
        assert_eq!(first, TOOLS);
        assert_eq!(listening.hear().await, "notes://1");
        told += 1;
    }
    flood.await.unwrap();
    // Ten seconds of it, and the end.
    assert!((9..=13).contains(&told), "{told}");
}

#[tokio::test(start_paused = true)]
async fn what_was_told_while_the_bus_was_away_is_told_later() {
    let engine = Engine::new();
    engine.works.send_replace(false);
    let limits = Limits::default().events(EventLimits::default().queued(2));
    let here = service(replica(engine.clone()).limits(limits));
    let mut heard = engine.messages.subscribe();
    let mut published = async || String::from_utf8(heard.recv().await.unwrap()).unwrap();
    for uri in ["notes://1", "notes://2", "notes://1"] {
        here.server().resource_updated(uri);
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    engine.works.send_replace(true);
    assert!(published().await.contains("notes://1"));
    assert!(published().await.contains("notes://2"));
    // More than are kept become one that says that anything may have changed.
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
async fn a_bus_that_fails_is_tried_again_after_growing_pauses() {
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
        // The clock of tokio has whole milliseconds.
        let slack = Duration::from_millis(2);
        assert!(
            pause + slack >= most / 2 && pause <= most + slack,
            "{pause:?}, {most:?}"
        );
        most = (most * 2).min(Duration::from_secs(10));
    }
    assert!(attempts.len() >= 12, "{attempts:?}");
    // A connection that has held for a while begins anew.
    engine.works.send_replace(true);
    tokio::time::sleep(Duration::from_secs(60)).await;
    engine.attempts.lock().unwrap().clear();
    engine.works.send_replace(false);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(engine.attempts.lock().unwrap().len() >= 3);
    // With the server, its bus ends.
    drop(here);
    tokio::time::sleep(Duration::from_millis(1)).await;
    engine.attempts.lock().unwrap().clear();
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(engine.attempts.lock().unwrap().is_empty());
}

/// A bus that fails in every other way.
#[derive(Debug, Default)]
struct Broken(AtomicUsize);

impl EventBus for Broken {
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        let run = self.0.fetch_add(1, Ordering::SeqCst);
        assert_ne!(run, 0, "it panics before it runs");
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
async fn a_bus_that_panics_or_ends_is_run_again() {
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
    let mut heard = engine.messages.subscribe();
    server.close();
    server.resource_updated("notes://7");
    http.serve().await.unwrap();
    let message = heard.try_recv().expect("it was published before the end");
    assert!(String::from_utf8(message).unwrap().contains("notes://7"));

    // Without an engine it ends all the same.
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
