//! Subscriptions to resources of mounted servers.

use std::future::poll_fn;
use std::pin::Pin;

use treenail::client::ServerNotification;
use treenail::prelude::*;
use treenail::schema::SubscriptionFilter;

use crate::station::{ERAS, LEGACY, client_of, proxied, station};

async fn next(
    notifications: &mut Pin<Box<impl Stream<Item = ServerNotification>>>,
) -> ServerNotification {
    poll_fn(|task| notifications.as_mut().poll_next(task))
        .await
        .expect("it is open")
}

#[tokio::test]
async fn updates_of_subscribed_resources_pass_in_every_era() {
    for (caller, revision) in ERAS {
        let (station, _) = station();
        let (gateway, _mounted) = proxied(&station, revision).await;
        let client = client_of(&gateway, caller)
            .subscribe_to_changes(false)
            .build()
            .await
            .unwrap();
        let session = client.session();
        let mut notifications = Box::pin(session.notifications());
        let uris = ["station://report", "station://reports/7"];
        let _open = if caller == LEGACY {
            for uri in uris {
                session.resources_subscribe(uri).await.unwrap();
            }
            None
        } else {
            let mut filter = SubscriptionFilter::new();
            filter.resource_subscriptions = Some(uris.map(str::to_owned).into());
            let open = session.subscriptions_listen(&filter).await.unwrap();
            let acknowledged = open.acknowledged().resource_subscriptions.clone();
            assert_eq!(acknowledged.unwrap_or_default().len(), 2);
            Some(open)
        };
        for uri in uris {
            // Until the subscription of the proxy has taken effect, updates are lost.
            let updated = async {
                loop {
                    let notification = next(&mut notifications).await;
                    if notification.method == "notifications/resources/updated"
                        && notification.params.contains(&format!("\"{uri}\""))
                    {
                        return;
                    }
                }
            };
            let publishing = async {
                loop {
                    station.resource_updated(uri);
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                }
            };
            tokio::select! { () = updated => {}, () = publishing => {} }
        }
    }
}
