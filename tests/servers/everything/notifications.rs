//! Notifications from the server.

use std::sync::{Arc, Mutex};

use serde_json::json;
use treenail::client::{ClientHandler, HandlerFuture};
use treenail::schema::{
    ClientCapabilities, ClientCapabilitiesRoots, ListRootsResult, LoggingLevel, NotificationParams,
    Root, RootsListChangedNotification,
};

use super::{Connect, client};
use crate::results::{text, wait_for};

const LOG: &str = "notifications/message";
const DOCUMENT: &str = "demo://resource/static/document/features.md";

pub(super) async fn log_messages_respect_the_level(connect: Connect<'_>) {
    let client = client(connect).await;
    let session = client.session();
    let mut notifications = session.notifications();
    session
        .logging_set_level(LoggingLevel::Debug)
        .await
        .unwrap();
    let started = client.call_tool("toggle-simulated-logging", ()).await;
    assert!(text(&started.unwrap()).starts_with("Started"));
    let message = wait_for(&mut notifications, LOG, |_| true).await;
    let level = message["level"].as_str().unwrap();
    let data = message["data"].as_str().unwrap().to_lowercase();
    assert!(data.contains(level), "{level}: {data}");
    let stopped = client.call_tool("toggle-simulated-logging", ()).await;
    assert!(text(&stopped.unwrap()).starts_with("Stopped"));

    // The server logs each subscription as `info`, which is less than `error`.
    session
        .logging_set_level(LoggingLevel::Error)
        .await
        .unwrap();
    let mut notifications = session.notifications();
    session.resources_subscribe(DOCUMENT).await.unwrap();
    session.logging_set_level(LoggingLevel::Info).await.unwrap();
    session.resources_unsubscribe(DOCUMENT).await.unwrap();
    let message = wait_for(&mut notifications, LOG, |_| true).await;
    let data = message["data"].as_str().unwrap();
    assert!(data.starts_with("Received Unsubscribe"), "{data}");
    client.close().await.unwrap();
}

pub(super) async fn subscriptions_report_updates(connect: Connect<'_>) {
    let client = client(connect).await;
    let session = client.session();
    let mut notifications = session.notifications();
    session.resources_subscribe(DOCUMENT).await.unwrap();
    let started = client.call_tool("toggle-subscriber-updates", ()).await;
    assert!(text(&started.unwrap()).starts_with("Started"));
    let updated = wait_for(
        &mut notifications,
        "notifications/resources/updated",
        |_| true,
    )
    .await;
    assert_eq!(updated["uri"], DOCUMENT, "CLI-SUB-07");
    session.resources_unsubscribe(DOCUMENT).await.unwrap();
    let stopped = client.call_tool("toggle-subscriber-updates", ()).await;
    assert!(text(&stopped.unwrap()).starts_with("Stopped"));
    client.close().await.unwrap();
}

pub(super) async fn new_resources_change_the_list(connect: Connect<'_>) {
    let client = client(connect).await;
    let before = client.resources().await.unwrap().len();
    let data = "data:text/plain,hello";
    for output in ["resourceLink", "resource"] {
        let mut notifications = client.session().notifications();
        let name = format!("{output}.gz");
        let arguments = json!({"name": name, "data": data, "outputType": output});
        let result = client.call_tool("gzip-file-as-resource", arguments);
        let result = json!(result.await.unwrap());
        let content = &result["content"][0];
        let resource = if output == "resource" {
            &content["resource"]
        } else {
            content
        };
        assert_eq!(resource["mimeType"], "application/gzip");
        let uri = resource["uri"].as_str().unwrap();
        wait_for(
            &mut notifications,
            "notifications/resources/list_changed",
            |_| true,
        )
        .await;
        assert!(client.resource(uri).await.unwrap().is_some(), "{uri}");
        let read = client.read_resource(uri).await.unwrap();
        let blob = json!(read.contents[0])["blob"].take();
        assert!(
            blob.as_str().unwrap().starts_with("H4sI"),
            "the blob is not gzip"
        );
    }
    assert_eq!(client.resources().await.unwrap().len(), before + 2);
    client.close().await.unwrap();
}

/// Handler with roots that change.
#[derive(Clone, Default)]
struct Roots(Arc<Mutex<Vec<Root>>>);

impl ClientHandler for Roots {
    fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::new();
        let roots = ClientCapabilitiesRoots::new().with_list_changed(true);
        capabilities.roots = Some(roots);
        capabilities
    }

    fn list_roots(&self) -> HandlerFuture<'_, ListRootsResult> {
        let roots = self.0.lock().unwrap().clone();
        Box::pin(async { Ok(ListRootsResult::new(roots)) })
    }
}

pub(super) async fn changed_roots_are_fetched_again(connect: Connect<'_>) {
    let roots = Roots::default();
    let client = connect().handler(roots.clone()).build().await.unwrap();
    let session = client.session();
    let mut notifications = session.notifications();
    let none = client.call_tool("get-roots-list", ()).await.unwrap();
    assert!(text(&none).contains("no roots are currently configured"));

    roots.0.lock().unwrap().push(Root::new("file:///harbour"));
    session
        .notify::<RootsListChangedNotification>(&NotificationParams::default())
        .await
        .unwrap();
    wait_for(&mut notifications, LOG, |message| {
        message["data"] == "Roots updated: 1 root(s) received from client"
    })
    .await;
    let one = client.call_tool("get-roots-list", ()).await.unwrap();
    assert!(text(&one).contains("file:///harbour"), "CLI-ROOT-03");
    client.close().await.unwrap();
}
