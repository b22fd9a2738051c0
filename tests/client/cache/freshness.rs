//! Lists and resources that are fetched again: after their time, after a change, or for lack of memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use treenail::client::{
    CacheLimits, ClientLimits, Session, SessionFuture, SessionRequest, SessionWrapper,
};
use treenail::prelude::*;
use treenail::schema::{CacheScope, Revision};

use super::{server_with_pages, tools};
use crate::fixture::server;
use crate::script::{Reply, discovered, scripted, scripted_with_limits};

#[tokio::test(start_paused = true)]
async fn a_list_is_cached_while_it_is_fresh() {
    let reply = server_with_pages(
        |_| json!({"tools": tools(&["a"]), "ttlMs": 5_000, "cacheScope": "public"}),
    );
    let (session, received) = scripted(reply);
    let client = McpClient::builder().session(session).build().await.unwrap();
    for _ in 0..3 {
        client.tools().await.unwrap();
    }
    assert_eq!(received.methods().len(), 2, "CLI-CACHE-02: fetched once");
    tokio::time::advance(Duration::from_millis(5_001)).await;
    client.tools().await.unwrap();
    assert_eq!(
        received.methods().len(),
        3,
        "CLI-CACHE-02: stale, and fetched at the next use"
    );
}

/// Session whose server takes 20 s for each page but the first.
#[derive(Debug)]
struct SlowPages(Arc<dyn Session>);

impl SessionWrapper for SlowPages {
    fn inner(&self) -> &dyn Session {
        &*self.0
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            if request.params.contains("cursor") {
                sleep(Duration::from_secs(20)).await;
            }
            self.0.request(request).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn each_page_is_fresh_from_its_reception() {
    let reply = server_with_pages(|cursor| match cursor {
        None => json!({"tools": tools(&["a"]), "nextCursor": "2", "ttlMs": 30_000}),
        Some(_) => json!({"tools": tools(&["b"]), "ttlMs": 30_000}),
    });
    let (session, received) = scripted(reply);
    let session = Arc::new(SlowPages(session));
    let client = McpClient::builder().session(session).build().await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 2);
    tokio::time::advance(Duration::from_secs(9)).await;
    client.tools().await.unwrap();
    assert_eq!(received.methods().len(), 3, "CLI-CACHE-02: both are fresh");
    tokio::time::advance(Duration::from_secs(2)).await;
    client.tools().await.unwrap();
    assert_eq!(
        received.methods().len(),
        5,
        "CLI-CACHE-02: the first page is stale"
    );
}

#[tokio::test]
async fn a_list_without_a_ttl_is_stale_at_once() {
    let (session, received) = scripted(server_with_pages(|_| json!({"tools": tools(&["a"])})));
    let client = McpClient::builder().session(session).build().await.unwrap();
    client.tools().await.unwrap();
    client.tools().await.unwrap();
    assert_eq!(received.methods().len(), 3, "CLI-CACHE-03");
}

#[tokio::test]
async fn an_unusual_ttl_is_accepted() {
    for (ttl, fetched) in [(json!(-1), 2), (json!(60_000.0), 1), (json!(1e30), 1)] {
        let page = move |_: Option<&str>| json!({"tools": tools(&["a"]), "ttlMs": ttl});
        let (session, received) = scripted(server_with_pages(page));
        let client = McpClient::builder().session(session).build().await.unwrap();
        for _ in 0..2 {
            assert_eq!(client.tools().await.unwrap().len(), 1);
        }
        let fetches = received.methods().len() - 1;
        assert_eq!(fetches, fetched, "CLI-CACHE-03: a negative TTL counts as 0");
    }
}

#[mcp_tool]
fn late() -> &'static str {
    "here"
}

#[tokio::test]
async fn a_change_makes_a_list_stale_in_every_era() {
    for revision in Revision::ALL {
        let server = Server::builder("changing", "1").dynamic().build().unwrap();
        let builder = McpClient::builder()
            .server(&server)
            .protocol_version(revision);
        let client = builder.auto_refresh(true).build().await.unwrap();
        assert!(client.tools().await.unwrap().is_empty(), "{revision}");
        let mut notifications = client.session().notifications();
        // In the modern era, the subscription must be open before the change.
        client.call_tool("late", ()).await.unwrap_err();
        server.edit(|edit| edit.tools(tools![late])).unwrap();
        let changed = notifications.next().await.unwrap();
        assert!(
            changed.method.ends_with("list_changed"),
            "{revision}: {}",
            changed.method
        );
        assert_eq!(
            client.tools().await.unwrap().len(),
            1,
            "CLI-CACHE-07: {revision}"
        );
    }
}

/// Session whose subscriptions wait for a permit.
#[derive(Debug)]
struct SlowListen {
    session: Arc<dyn Session>,
    permits: Arc<Semaphore>,
}

impl SessionWrapper for SlowListen {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            if request.method == "subscriptions/listen" {
                self.permits.acquire().await.unwrap().forget();
            }
            self.session.request(request).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_before_the_first_subscription_is_not_lost() {
    let hour = Duration::from_secs(3_600);
    let server = Server::builder("changing", "1").dynamic();
    let server = server.cache_lists(hour, CacheScope::Private);
    let server = server.build().unwrap();
    let permits = Arc::new(Semaphore::new(0));
    let shared = Arc::clone(&permits);
    let client = McpClient::builder()
        .server(&server)
        .protocol_version(Revision::V2026_07_28)
        .wrap_session(move |session| {
            let permits = Arc::clone(&shared);
            Arc::new(SlowListen { session, permits })
        });
    let client = client.build().await.unwrap();
    assert!(client.tools().await.unwrap().is_empty());
    server.edit(|edit| edit.tools(tools![late])).unwrap();
    sleep(Duration::from_secs(1)).await;
    permits.add_permits(1);
    let noticed = async {
        while client.tools().await.unwrap().is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
    };
    let noticed = timeout(Duration::from_secs(60), noticed).await;
    noticed.expect("CLI-CACHE-07");
}

#[tokio::test(start_paused = true)]
async fn a_subscription_causes_no_fetch_of_lists_that_follow_it() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => Reply::result(
            message,
            &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": true}}}),
        ),
        Some("subscriptions/listen") => {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
            let filter = &message["params"]["notifications"];
            Reply::Lines(vec![
                json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                    "params": {"_meta": meta, "notifications": filter}})
                .to_string(),
            ])
        }
        _ => Reply::result(
            message,
            &json!({"resultType": "complete", "tools": [], "ttlMs": 60_000, "cacheScope": "private"}),
        ),
    });
    let builder = McpClient::builder().session(session).auto_refresh(true);
    let client = builder.build().await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let opened = ["server/discover", "subscriptions/listen"];
    assert_eq!(received.methods(), opened);
    for _ in 0..2 {
        client.tools().await.unwrap();
    }
    assert_eq!(received.methods()[2..], ["tools/list"], "CLI-CACHE-02");
}

#[tokio::test]
async fn resources_are_cached_only_with_a_ttl() {
    let (server, observer) = server();
    let client = McpClient::builder().server(&server).build().await.unwrap();
    for _ in 0..2 {
        client.read_resource("note://today").await.unwrap();
    }
    assert_eq!(observer.calls.load(Ordering::SeqCst), 2, "CLI-CACHE-03");

    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::result(
            message,
            &json!({"resultType": "complete", "ttlMs": 60_000, "cacheScope": "private",
                "contents": [{"uri": message["params"]["uri"], "text": "x"}]}),
        ),
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    for uri in ["a://1", "a://1", "a://2", "a://1"] {
        assert_eq!(
            client.read_resource(uri).await.unwrap().contents[0].uri(),
            uri,
            "CLI-CACHE-01"
        );
    }
    assert_eq!(received.methods().len(), 3, "CLI-CACHE-02");
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_is_often_read_again_evicts_no_other() {
    let limits = ClientLimits::default().cache(CacheLimits::default().results(4));
    let (session, received) = scripted_with_limits(&limits, |message| {
        if message["method"] == "server/discover" {
            return discovered(message);
        }
        let uri = &message["params"]["uri"];
        let ttl = if uri == "a://long" { 3_600_000 } else { 1 };
        let contents = json!([{"uri": uri, "text": "x"}]);
        let result = json!({"resultType": "complete", "ttlMs": ttl, "contents": contents});
        Reply::result(message, &result)
    });
    let builder = McpClient::builder().session(session).limits(limits);
    let client = builder.build().await.unwrap();
    client.read_resource("a://long").await.unwrap();
    for _ in 0..6 {
        client.read_resource("a://short").await.unwrap();
        tokio::time::advance(Duration::from_millis(2)).await;
    }
    client.read_resource("a://long").await.unwrap();
    assert_eq!(received.methods().len(), 1 + 1 + 6);
}

#[tokio::test]
async fn the_memory_of_cached_resources_is_limited() {
    let numbers = |count: usize| json!(vec![0; count]);
    for (meta, text, reads) in [
        (numbers(1), "x".repeat(100), 1),
        (numbers(1_000), "x".repeat(100), 2),
        (numbers(1), "x".repeat(20_000), 2),
    ] {
        let limits = ClientLimits::default().cache(CacheLimits::default().bytes(20_000));
        let (session, received) = scripted_with_limits(&limits, move |message| {
            if message["method"] == "server/discover" {
                return discovered(message);
            }
            let result = json!({
                "resultType": "complete", "ttlMs": 60_000, "_meta": {"a.example/x": meta},
                "contents": [{"uri": "a://1", "text": text}],
            });
            Reply::result(message, &result)
        });
        let builder = McpClient::builder().session(session).limits(limits);
        let client = builder.build().await.unwrap();
        for _ in 0..2 {
            client.read_resource("a://1").await.unwrap();
        }
        assert_eq!(received.methods().len(), 1 + reads);
    }
}
