//! Interest of clients in resources, beside topics of extensions.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use treenail::RpcError;
use treenail::dynamic::Resource;
use treenail::extension::Extension;
use treenail::prelude::*;
use treenail::schema::Revision;

use super::jobs::{ID, connect};
use crate::support::peer::{MODERN, Peer, error};

#[tokio::test]
async fn a_failed_subscription_is_no_interest() {
    let gate = Arc::new(Semaphore::new(0));
    let extension = Extension::new(ID).listen_member("jobIds", {
        let gate = Arc::clone(&gate);
        move |_, _| {
            let gate = Arc::clone(&gate);
            async move {
                drop(gate.acquire().await);
                Err::<Vec<String>, _>(RpcError::internal("the store is not available"))
            }
        }
    });
    let resource = |name: &str| {
        let resource = Resource::new(format!("a://{name}"), name).subscribable(true);
        resource.handler(|_, _| async { "text" })
    };
    let builder = treenail::server!().extension(extension);
    let server = builder.add([resource("a"), resource("b")]).build().unwrap();
    let mut resources = server.subscribed_resources();
    let mut peer = connect(&server, MODERN).await;
    for filter in [
        json!({"resourceSubscriptions": ["a://a"]}),
        json!({"resourceSubscriptions": ["a://b"], "jobIds": ["job"]}),
    ] {
        let params = json!({"notifications": filter});
        peer.begin("subscriptions/listen", params).await;
    }
    let (method, _) = peer.next_notification().await;
    assert_eq!(method, "notifications/subscriptions/acknowledged");
    peer.request("server/discover", json!({})).await;
    assert_eq!(resources.uris().len(), 2);
    gate.add_permits(1);
    let (_, message) = error(&peer.receive_any().await.unwrap());
    assert_eq!(message, "the store is not available");
    let changed = timeout(Duration::ZERO, resources.changed()).await;
    changed.expect("the end of its subscription is a change");
    assert_eq!(resources.uris().len(), 1);
}

#[tokio::test]
async fn a_request_that_changes_no_subscription_is_no_change() {
    let resource = Resource::new("a://a", "a").subscribable(true);
    let resource = resource.handler(|_, _| async { "text" });
    let server = treenail::server!().dynamic().add(resource).build().unwrap();
    let mut resources = server.subscribed_resources();
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let uri = json!({"uri": "a://a"});
    peer.request("resources/subscribe", uri.clone()).await;
    timeout(Duration::ZERO, resources.changed()).await.unwrap();
    peer.request("resources/subscribe", uri.clone()).await;
    peer.request("resources/unsubscribe", json!({"uri": "a://b"}))
        .await;
    drop(Peer::connect(&server, Revision::V2025_11_25).await);
    let changed = timeout(Duration::ZERO, resources.changed()).await;
    assert!(changed.is_err(), "no subscription has changed");
    peer.request("resources/unsubscribe", uri.clone()).await;
    timeout(Duration::ZERO, resources.changed()).await.unwrap();
    peer.request("resources/subscribe", uri).await;
    drop(peer);
    timeout(Duration::from_secs(10), async {
        while !resources.uris().is_empty() {
            resources.changed().await;
        }
    })
    .await
    .expect("the end of a connection ends its subscriptions");
}
