//! Updates of resources over HTTP, in both eras.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use tokio::time::timeout;
use treenail::client::{AuthorizationFuture, HttpAttempt, HttpAuthorization, Refusal};
use treenail::prelude::*;
use treenail::schema::Revision;

struct Notes;

#[mcp_tool]
impl Notes {
    #[resource("notes://{id}", subscribable)]
    fn note(id: u32) -> Value {
        json!({"id": id})
    }
}

#[mcp_type]
#[derive(Debug, PartialEq)]
struct Note {
    id: u32,
}

const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a server at a free port, and returns its URL.
async fn serve() -> (Server, String) {
    let server = Server::builder("notes", "1").mount(Notes).build().unwrap();
    let http = server.clone().bind_http("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    tokio::spawn(http.serve());
    (server, url)
}

#[tokio::test]
async fn updates_arrive_in_both_eras() {
    let (server, url) = serve().await;
    for revision in [
        Revision::V2025_03_26,
        Revision::V2025_11_25,
        Revision::LATEST,
    ] {
        let builder = McpClient::builder().url(&url).protocol_version(revision);
        let client = builder.build().await.unwrap();
        let opened = client.resource_updates(["notes://1", "notes://2"]);
        let mut updates = opened.await.unwrap();
        for id in [3, 2, 1] {
            let uri = format!("notes://{id}");
            server.resource_updated(&uri);
            if id == 3 {
                continue;
            }
            let item = timeout(PATIENCE, updates.next()).await.unwrap();
            assert_eq!(item.unwrap().unwrap(), uri, "{revision}");
            let note = client.read_resource(&uri).await.unwrap();
            assert_eq!(note.json::<Note>().unwrap(), Note { id });
            assert!(note.json::<u32>().is_err());
        }
        client.close().await.unwrap();
        assert!(updates.next().await.unwrap().is_err());
        assert!(updates.next().await.is_none());
    }
}

/// Credentials that are others in each request.
#[derive(Debug, Default)]
struct ShortLived(AtomicU64);

impl HttpAuthorization for ShortLived {
    fn authorize<'a>(
        &'a self,
        _: &'a mut HttpAttempt<'_>,
        _: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(()) })
    }

    fn refused<'a>(
        &'a self,
        _: &'a mut HttpAttempt<'_>,
        _: StatusCode,
        _: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal> {
        Box::pin(async { Ok(Refusal::Final) })
    }

    fn version(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn other_credentials_are_no_interruption() {
    let (server, url) = serve().await;
    let builder = McpClient::builder()
        .url(&url)
        .protocol_version(Revision::V2025_11_25);
    let client = builder.authorization(ShortLived::default()).build().await;
    let client = client.unwrap();
    let opened = client.resource_updates(["notes://1", "notes://2"]);
    let mut updates = opened.await.unwrap();
    client.read_resource("notes://1").await.unwrap();
    server.resource_updated("notes://2");
    let item = timeout(PATIENCE, updates.next()).await.unwrap();
    assert_eq!(item.unwrap().unwrap(), "notes://2");
}
