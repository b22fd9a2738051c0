//! Interest of clients in resources, beside topics of extensions.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use treenail::RpcError;
use treenail::dynamic::Resource;
use treenail::extension::Extension;
use treenail::prelude::*;

use super::jobs::{ID, connect};
use crate::support::peer::{MODERN, error};

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
        let resource = Resource::new(name, format!("a://{name}")).subscribable(true);
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
