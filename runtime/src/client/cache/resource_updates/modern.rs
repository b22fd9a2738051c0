//! Updates of resources in the modern era: one request that stays open.

use std::sync::Arc;

use tokio::time::Instant;
use treenail_schema::{Notification, ResourceUpdatedNotification, SubscriptionFilter};

use super::pending::PendingUpdates;
use super::{Refusals, closed, is_closed, pause};
use crate::client::cache::background::BACKOFF;
use crate::client::{ClientError, McpClientSession, Subscription};
use crate::wire::quoted;

/// Subscribes to these resources, all of which the server must acknowledge.
pub(super) async fn open(
    session: &McpClientSession,
    uris: &[Arc<str>],
) -> Result<Subscription, ClientError> {
    let subscription = session.subscriptions_listen(&filter(uris)).await?;
    let acknowledged = subscription.acknowledged().resource_subscriptions.as_ref();
    let is_missing = |uri: &&Arc<str>| {
        acknowledged.is_none_or(|known| known.iter().all(|known| **known != ***uri))
    };
    if let Some(uri) = uris.iter().find(is_missing) {
        return Err(ClientError::unsupported(format!(
            "the server does not report updates of the resource {}",
            quoted(uri)
        )));
    }
    // Before the reader learns of it, so that it reads no result that was cached before the subscription.
    session.changes().note_missed_updates();
    Ok(subscription)
}

/// Passes the updates on, and opens the subscription again after its end, or if there is none. Returns the error that ends the updates
/// for good.
pub(super) async fn follow(
    session: &McpClientSession,
    pending: &PendingUpdates,
    mut subscription: Option<Subscription>,
) -> ClientError {
    let mut failures = 0_u32;
    loop {
        if let Some(mut subscription) = subscription.take() {
            let opened = Instant::now();
            let delivered = pass_on(&mut subscription, pending).await;
            // A stream that ends at once counts as a failure and does not reset the backoff.
            if delivered || opened.elapsed() >= BACKOFF.max {
                failures = 0;
            }
        }
        let mut refusals = Refusals::default();
        subscription = loop {
            if is_closed(session) {
                return closed();
            }
            failures = failures.saturating_add(1);
            pause(session, BACKOFF.jittered_delay(failures)).await;
            match open(session, pending.uris()).await {
                Ok(subscription) => break Some(subscription),
                Err(error) if is_closed(session) || refusals.are_final(&error) => return error,
                Err(error) => {
                    tracing::debug!(%error, "a subscription to resources failed and is retried");
                }
            }
        };
        pending.push_all();
    }
}

/// Passes the updates on until the subscription ends. Returns whether it delivered any.
async fn pass_on(subscription: &mut Subscription, pending: &PendingUpdates) -> bool {
    let (mut delivered, mut lost) = (false, 0);
    while let Some(Ok(notification)) = subscription.next().await {
        delivered = true;
        if subscription.lost() != lost {
            lost = subscription.lost();
            pending.push_all();
        }
        if notification.method != ResourceUpdatedNotification::METHOD {
            continue;
        }
        if let Some(updated) = notification.decode::<ResourceUpdatedNotification>() {
            pending.push(&updated.uri);
        }
    }
    delivered
}

fn filter(uris: &[Arc<str>]) -> SubscriptionFilter {
    let uris: Vec<String> = uris.iter().map(|uri| uri.as_ref().to_owned()).collect();
    SubscriptionFilter::new().with_resource_subscriptions(uris)
}
