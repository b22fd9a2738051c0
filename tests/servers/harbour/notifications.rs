//! Notifications from the server.

use serde_json::{Value, json};
use treenail::schema::SubscriptionFilter;

use super::Harbour;
use crate::results::{text, wait_for};

pub(super) async fn new_tool_is_announced_and_listed(harbour: Harbour) {
    let client = harbour.client().await;
    let session = client.session();
    assert!(client.tool("anchor").await.unwrap().is_none());
    let mut notifications = session.notifications();
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
    wait_for(
        &mut notifications,
        "notifications/tools/list_changed",
        |_| true,
    )
    .await;
    if let Some(mut subscription) = subscription {
        let first = subscription.next().await.unwrap().unwrap();
        assert_eq!(first.method, "notifications/tools/list_changed");
    }
    assert!(
        client.tool("anchor").await.unwrap().is_some(),
        "CLI-CACHE-07"
    );
    let result = client.call_tool("anchor", ()).await.unwrap();
    assert_eq!(text(&result), "I am anchor");
    client.close().await.unwrap();
}

pub(super) async fn updated_resource_is_announced(harbour: Harbour) {
    if !harbour.revision.is_modern() {
        return check_legacy_update(harbour).await;
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

/// In the legacy era, these servers report every update without a subscription.
async fn check_legacy_update(harbour: Harbour) {
    let client = harbour.client().await;
    let mut notifications = client.session().notifications();
    client.call_tool("touch", ()).await.unwrap();
    let updated = wait_for(
        &mut notifications,
        "notifications/resources/updated",
        |_| true,
    )
    .await;
    assert_eq!(updated["uri"], "note://today");
    client.close().await.unwrap();
}
