//! Updates of resources in the legacy era: a request for each resource, and notifications of the session.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use futures_core::Stream as _;
use tokio::runtime::Handle;
use treenail_schema::ResourceUpdatedNotification;

use super::pending::PendingUpdates;
use super::{Refusals, closed, is_closed};
use crate::client::background::in_background;
use crate::client::cache::renewal::Renewal;
use crate::client::{ClientError, McpClientSession, Notifications, ServerNotification};

/// Subscription of one stream.
pub(super) struct LegacySubscription {
    session: Arc<McpClientSession>,
    uris: Vec<Arc<str>>,
    notifications: Notifications,
    /// The gaps of the session before the subscription.
    gaps: u64,
    runtime: Handle,
}

/// Subscribes to these resources, after the notifications are read.
pub(super) async fn open(
    session: &Arc<McpClientSession>,
    uris: &[Arc<str>],
) -> Result<LegacySubscription, ClientError> {
    session.subscribed_uris().add(uris);
    // Dropping it unsubscribes, also if a request fails.
    let mut subscription = LegacySubscription {
        session: Arc::clone(session),
        uris: uris.to_vec(),
        notifications: session.notifications(),
        gaps: session.changes().gaps(),
        runtime: Handle::current(),
    };
    subscription.subscribe().await?;
    Ok(subscription)
}

/// Passes the updates on, and subscribes again after a gap. Returns the error that ends the updates for good, or `Ok` once a server of
/// the modern era has replaced this one.
pub(super) async fn follow(
    session: &McpClientSession,
    pending: &PendingUpdates,
    mut subscription: LegacySubscription,
) -> Result<(), ClientError> {
    let (mut renewal, mut refusals, mut lost) = (Renewal::new(), Refusals::default(), 0);
    loop {
        let mut changed = pin!(session.changes().changed.notified());
        changed.as_mut().enable();
        if is_closed(session) {
            return Err(closed());
        }
        if session.protocol_version().is_modern() {
            return Ok(());
        }
        if subscription.has_gap() {
            renewal.plan();
        }
        if renewal.is_due() {
            match subscription.renew(pending).await {
                Ok(()) => {
                    renewal.note_success();
                    refusals = Refusals::default();
                }
                Err(error) if is_closed(session) || refusals.are_final(&error) => {
                    return Err(error);
                }
                Err(error) => {
                    tracing::debug!(%error, "a subscription to resources failed and is retried");
                    renewal.note_failure();
                }
            }
            continue;
        }
        let due = pin!(renewal.wait());
        let event = next_event(&mut subscription.notifications, changed, due).await;
        if subscription.notifications.lost() != lost {
            lost = subscription.notifications.lost();
            pending.push_all();
        }
        match event {
            Event::Notification(notification) => subscription.pass_on(&notification, pending),
            Event::Ended => return Err(closed()),
            Event::Other => {}
        }
    }
}

enum Event {
    Notification(ServerNotification),
    /// The connection has ended.
    Ended,
    /// Something has changed, or a retry is due.
    Other,
}

async fn next_event(
    notifications: &mut Notifications,
    mut changed: Pin<&mut impl Future<Output = ()>>,
    mut due: Pin<&mut impl Future<Output = ()>>,
) -> Event {
    poll_fn(|context| {
        match Pin::new(&mut *notifications).poll_next(context) {
            Poll::Ready(Some(notification)) => {
                return Poll::Ready(Event::Notification(notification));
            }
            Poll::Ready(None) => return Poll::Ready(Event::Ended),
            Poll::Pending => {}
        }
        let is_ready =
            changed.as_mut().poll(context).is_ready() || due.as_mut().poll(context).is_ready();
        if is_ready {
            Poll::Ready(Event::Other)
        } else {
            Poll::Pending
        }
    })
    .await
}

impl LegacySubscription {
    /// Returns true once after each gap. The session may be a new one then, which has no subscriptions.
    fn has_gap(&mut self) -> bool {
        let current = self.session.changes().gaps();
        std::mem::replace(&mut self.gaps, current) != current
    }

    /// Subscribes again, after which all resources count as updated.
    async fn renew(&mut self, pending: &PendingUpdates) -> Result<(), ClientError> {
        self.subscribe().await?;
        // Before the reader learns of it, so that it reads no cached result.
        self.session.changes().note_missed_updates();
        pending.push_all();
        Ok(())
    }

    /// Subscribes to all resources in the same session, and notes its gaps. A request may start a new session.
    async fn subscribe(&mut self) -> Result<(), ClientError> {
        let session = &*self.session;
        let _requests = session.subscribed_uris().requests.lock().await;
        for _ in 0..2 {
            self.gaps = session.changes().gaps();
            for uri in &self.uris {
                session.resources_subscribe(uri).await?;
            }
            if session.changes().gaps() == self.gaps {
                return Ok(());
            }
        }
        Err(ClientError::SessionExpired)
    }

    fn pass_on(&self, notification: &ServerNotification, pending: &PendingUpdates) {
        if let Some(updated) = notification.decode::<ResourceUpdatedNotification>() {
            if self.uris.iter().any(|uri| is_part_of(&updated.uri, uri)) {
                pending.push(&updated.uri);
            }
        }
    }
}

impl Drop for LegacySubscription {
    fn drop(&mut self) {
        let last = self.session.subscribed_uris().remove(&self.uris);
        if last.is_empty() || is_closed(&self.session) {
            return;
        }
        let session = Arc::clone(&self.session);
        self.runtime.spawn(in_background(async move {
            let subscribed = session.subscribed_uris();
            for uri in last {
                let _requests = subscribed.requests.lock().await;
                if subscribed.contains(&uri) {
                    continue;
                }
                let Err(error) = session.resources_unsubscribe(&uri).await else {
                    continue;
                };
                tracing::debug!(%error, "could not unsubscribe from a resource");
                // The server may refuse it for a resource that is gone, and accept it for the others.
                if error.as_refused().is_none() {
                    return;
                }
            }
        }));
    }
}

/// Returns true if `uri` is that of the resource `whole`, or of a part of it.
fn is_part_of(uri: &str, whole: &str) -> bool {
    let rest = uri.strip_prefix(whole);
    rest.is_some_and(|rest| {
        rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '?', '#'])
    })
}
