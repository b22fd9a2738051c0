//! Streams of the updates of resources.

mod background;
mod faults;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use treenail::client::{
    ClientError, McpClientBuilder, ResourceUpdates, Session, SessionFuture, SessionRequest,
    SessionWrapper,
};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::script::{Received, Reply, initialized, scripted};

const PATIENCE: Duration = Duration::from_secs(5);

struct Notes;

#[mcp_tool]
impl Notes {
    #[resource("notes://{id}", subscribable)]
    fn note(id: u32) -> String {
        format!("note {id}")
    }

    #[resource("fixed://one")]
    fn fixed() -> &'static str {
        "fixed"
    }
}

fn server() -> Server {
    Server::builder("notes", "1").mount(Notes).build().unwrap()
}

async fn connect(server: &Server, revision: Revision) -> McpClient {
    let builder = McpClient::builder().server(server);
    builder.protocol_version(revision).build().await.unwrap()
}

async fn next(updates: &mut ResourceUpdates) -> String {
    let next = timeout(PATIENCE, updates.next()).await.unwrap();
    next.unwrap().unwrap()
}

/// Asserts that there is no update for a while.
async fn assert_quiet(updates: &mut ResourceUpdates) {
    let second = Duration::from_secs(1);
    let next = timeout(second, updates.next()).await;
    assert!(next.is_err(), "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn the_updates_of_the_named_resources_arrive_in_every_revision() {
    for revision in Revision::ALL {
        let server = server();
        let client = connect(&server, revision).await;
        let named = ["notes://1", "notes://2", "notes://1"];
        let mut updates = client.resource_updates(named).await.unwrap();
        for id in [3, 2, 2, 2] {
            server.resource_updated(format!("notes://{id}"));
        }
        assert_eq!(next(&mut updates).await, "notes://2", "{revision}");
        let note = client.read_resource("notes://2").await.unwrap();
        assert_eq!(note.as_text(), Some("note 2"));
        assert_quiet(&mut updates).await;
        server.resource_updated("notes://1");
        assert_eq!(next(&mut updates).await, "notes://1", "{revision}");

        client.close().await.unwrap();
        let end = timeout(PATIENCE, updates.next()).await.unwrap();
        assert!(matches!(end, Some(Err(ClientError::Closed(_)))), "{end:?}");
        assert!(updates.next().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_ends_only_its_own_subscription() {
    for revision in Revision::ALL {
        let server = server();
        let client = connect(&server, revision).await;
        let first = client.resource_updates(["notes://1", "notes://2"]).await;
        let mut second = client.resource_updates(["notes://2"]).await.unwrap();
        drop(first);
        let mut third = client.resource_updates(["notes://1"]).await.unwrap();
        server.resource_updated("notes://2");
        server.resource_updated("notes://1");
        assert_eq!(next(&mut second).await, "notes://2", "{revision}");
        assert_eq!(next(&mut third).await, "notes://1", "{revision}");
        assert_quiet(&mut second).await;
        assert_quiet(&mut third).await;
    }
}

#[tokio::test(start_paused = true)]
async fn clients_over_one_session_share_its_subscriptions() {
    for revision in Revision::ALL {
        let server = server();
        let first = connect(&server, revision).await;
        let second = McpClient::new(Arc::clone(first.session()));
        let ended = first.resource_updates(["notes://1"]).await.unwrap();
        let mut updates = second.resource_updates(["notes://1"]).await.unwrap();
        drop(ended);
        assert_quiet(&mut updates).await;
        server.resource_updated("notes://1");
        assert_eq!(next(&mut updates).await, "notes://1", "{revision}");
    }
}

#[tokio::test]
async fn resources_without_subscriptions_are_refused_at_once() {
    for revision in [Revision::LATEST, Revision::V2025_11_25] {
        let client = connect(&server(), revision).await;
        for uris in [&["fixed://one"][..], &["notes://1", "none://x"]] {
            let error = client.resource_updates(uris.iter().copied()).await;
            let error = error.unwrap_err();
            let is_expected =
                matches!(error, ClientError::Refused(_) | ClientError::Unsupported(_));
            assert!(is_expected, "{revision}: {error:?}");
        }
        let none = client.resource_updates([] as [&str; 0]).await;
        assert!(matches!(none, Err(ClientError::Invalid(_))));
    }
}

#[tokio::test]
async fn the_other_era_has_another_method_for_it() {
    let modern = connect(&server(), Revision::LATEST).await;
    let error = modern.session().resources_subscribe("notes://1").await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("resource_updates") && error.contains("subscriptions_listen"));
    let legacy = connect(&server(), Revision::V2025_11_25).await;
    let filter = treenail::schema::SubscriptionFilter::new();
    let error = legacy.session().subscriptions_listen(&filter).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("resource_updates") && error.contains("resources_subscribe"));
}

/// Lines with which a modern server acknowledges a subscription, and reports an update of it.
pub(crate) fn listening(listen: &Value) -> Vec<String> {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": listen["id"]});
    let notifications = &listen["params"]["notifications"];
    let message = |method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params})
            .to_string()
    };
    let acknowledged = json!({"_meta": meta, "notifications": notifications});
    vec![message("subscriptions/acknowledged", acknowledged)]
}

#[tokio::test(start_paused = true)]
async fn an_ended_subscription_is_opened_again_and_all_resources_count_as_updated() {
    let mut opened = 0;
    let (session, received) = scripted(move |message| match message["method"].as_str() {
        Some("server/discover") => Reply::result(
            message,
            &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"resources": {"subscribe": true}}}),
        ),
        Some("subscriptions/listen") => {
            opened += 1;
            let mut lines = listening(message);
            if opened == 2 {
                return Reply::error(message, &json!({"code": -32603, "message": "busy"}));
            }
            if opened == 1 {
                let end = json!({"resultType": "complete"});
                lines.push(crate::script::answer(message, &end));
            }
            if opened == 4 {
                return Reply::error(message, &json!({"code": -32601, "message": "no"}));
            }
            Reply::Lines(lines)
        }
        Some("resources/read") => Reply::result(
            message,
            &json!({"resultType": "complete", "ttlMs": 60_000, "cacheScope": "private",
                "contents": [{"uri": "a://1", "text": "x"}]}),
        ),
        _ => Reply::nothing(),
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    let mut updates = client.resource_updates(["a://2", "a://1"]).await.unwrap();
    client.read_resource("a://1").await.unwrap();
    assert_eq!(next(&mut updates).await, "a://1");
    assert_eq!(next(&mut updates).await, "a://2");
    // The cached result may be from before the update.
    client.read_resource("a://1").await.unwrap();
    assert_eq!(count(&received, "resources/read"), 2);
    assert_eq!(count(&received, "subscriptions/listen"), 3);
    assert_quiet(&mut updates).await;
}

pub(crate) fn count(received: &Received, method: &str) -> usize {
    let methods = received.methods();
    methods.iter().filter(|it| *it == method).count()
}

/// Session that expires this often.
#[derive(Debug)]
struct Expiring {
    session: Arc<dyn Session>,
    times: Arc<AtomicUsize>,
}

impl SessionWrapper for Expiring {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        let count = |times: usize| times.checked_sub(1);
        let order = Ordering::SeqCst;
        if request.method != "initialize" && self.times.fetch_update(order, order, count).is_ok() {
            return Box::pin(async { Err(ClientError::SessionExpired) });
        }
        self.session.request(request)
    }
}

/// Connects to a legacy server whose sessions expire.
async fn expiring() -> (McpClient, Arc<AtomicUsize>, Received) {
    let (builder, times, received) = expiring_builder();
    (builder.build().await.unwrap(), times, received)
}

fn expiring_builder() -> (McpClientBuilder, Arc<AtomicUsize>, Received) {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("initialize") => {
            let result = json!({"protocolVersion": "2025-11-25",
                "capabilities": {"resources": {"subscribe": true}, "tools": {}},
                "serverInfo": {"name": "script", "version": "1"}});
            Reply::result(message, &result)
        }
        Some("notifications/initialized") => Reply::nothing(),
        _ => Reply::result(message, &json!({"tools": []})),
    });
    let times = Arc::<AtomicUsize>::default();
    let shared = Arc::clone(&times);
    let builder = McpClient::builder().session(session);
    let builder = builder.protocol_version(Revision::V2025_11_25);
    let wrapped = builder.wrap_session(move |session| {
        let times = Arc::clone(&shared);
        Arc::new(Expiring { session, times })
    });
    (wrapped, times, received)
}

#[tokio::test(start_paused = true)]
async fn a_new_session_gets_the_subscriptions_of_the_earlier_one() {
    let (client, times, received) = expiring().await;
    let mut updates = client.resource_updates(["a://2", "a://1"]).await.unwrap();
    times.store(1, Ordering::SeqCst);
    client.session().tools_list(None).await.unwrap();
    assert_eq!(next(&mut updates).await, "a://1");
    assert_eq!(next(&mut updates).await, "a://2");
    assert_quiet(&mut updates).await;
    assert_eq!(count(&received, "initialize"), 2);
    assert_eq!(count(&received, "resources/subscribe"), 4);
    drop(updates);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(count(&received, "resources/unsubscribe"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_each_session_is_asked_with_backoff() {
    let (client, times, received) = expiring().await;
    let mut updates = client.resource_updates(["a://1"]).await.unwrap();
    times.store(usize::MAX, Ordering::SeqCst);
    client.session().tools_list(None).await.unwrap_err();
    tokio::time::sleep(Duration::from_secs(60 * 60)).await;
    let handshakes = count(&received, "initialize");
    assert!((100..=250).contains(&handshakes), "{handshakes}");
    times.store(0, Ordering::SeqCst);
    let item = timeout(Duration::from_secs(40), updates.next()).await;
    assert_eq!(item.unwrap().unwrap().unwrap(), "a://1");
}

#[tokio::test]
async fn a_legacy_server_without_the_capability_is_not_asked() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        _ => Reply::nothing(),
    });
    let builder = McpClient::builder().session(session);
    let builder = builder.protocol_version(Revision::V2025_11_25);
    let client = builder.build().await.unwrap();
    let error = client.resource_updates(["a://1"]).await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error:?}");
    assert_eq!(count(&received, "resources/subscribe"), 0);
}
