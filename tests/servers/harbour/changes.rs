//! What the server tells of its own accord.

use serde_json::{Value, json};
use tokio_stream::StreamExt;
use treenail::schema::SubscriptionFilter;

use super::Harbour;
use crate::told::{text, wait_for};

pub(super) async fn a_new_tool_is_told_and_found(harbour: Harbour) {
    let client = harbour.client().await;
    let session = client.session();
    assert!(client.tool("anchor").await.unwrap().is_none());
    let mut told = session.notifications();
    let subscription = if harbour.revision.is_modern() {
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = Some(true);
        let subscription = session.subscriptions_listen(&filter).await.unwrap();
        assert_eq!(*subscription.acknowledged(), filter, "CLI-SUB-02");
        Some(subscription)
    } else {
        None
    };
    let added = client.call_tool("add_tool", json!({"name": "anchor"}));
    assert_eq!(text(&added.await.unwrap()), "anchor");
    wait_for(&mut told, "notifications/tools/list_changed", |_| true).await;
    if let Some(mut subscription) = subscription {
        let first = subscription.next().await.unwrap().unwrap();
        assert_eq!(first.method, "notifications/tools/list_changed");
    }
    assert!(
        client.tool("anchor").await.unwrap().is_some(),
        "CLI-CACHE-07"
    );
    let said = client.call_tool("anchor", ()).await.unwrap();
    assert_eq!(text(&said), "I am anchor");
    client.close().await.unwrap();
}

pub(super) async fn an_updated_resource_is_told(harbour: Harbour) {
    if !harbour.revision.is_modern() {
        return legacy_update(harbour).await;
    }
    let client = harbour.client().await;
    let mut filter = SubscriptionFilter::new();
    filter.resource_subscriptions = Some(vec!["note://today".to_owned()]);
    let session = client.session();
    let mut subscription = session.subscriptions_listen(&filter).await.unwrap();
    assert_eq!(*subscription.acknowledged(), filter, "CLI-SUB-02");
    client.call_tool("touch", ()).await.unwrap();
    let updated = subscription.next().await.unwrap().unwrap();
    assert_eq!(updated.method, "notifications/resources/updated");
    let updated: Value = serde_json::from_str(&updated.params).unwrap();
    assert_eq!(updated["uri"], "note://today");
    let read = client.read_resource("note://today").await.unwrap();
    assert_eq!(json!(read.contents[0])["text"], "sun");
    drop(subscription);
    client.close().await.unwrap();
}

/// These servers tell of every update to their one legacy client.
async fn legacy_update(harbour: Harbour) {
    let client = harbour.client().await;
    let mut told = client.session().notifications();
    client.call_tool("touch", ()).await.unwrap();
    let updated = wait_for(&mut told, "notifications/resources/updated", |_| true).await;
    assert_eq!(updated["uri"], "note://today");
    client.close().await.unwrap();
}
