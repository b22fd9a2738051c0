//! Notifications of subscribers, after changes on any replica.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout_at};
use treenail::Server;
use treenail::http::{HttpBody, HttpService};
use treenail::server::Component;

use super::{Engine, replica, service};
use crate::client::{Post, messages, next};

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
