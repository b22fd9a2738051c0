//! Stream of the updates of resources, in both eras.

mod legacy;
mod modern;
mod pending;

use std::collections::BTreeSet;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use treenail_schema::error_code;

use self::legacy::LegacySubscription;
use self::pending::PendingUpdates;
use crate::client::background::in_background;
use crate::client::cache::background::Watcher;
use crate::client::{ClientError, McpClientSession, Subscription};

/// Stream of the URIs of resources that have changed, until it is dropped. Returned by [`McpClient::resource_updates`](crate::client::McpClient::resource_updates).
///
/// A URI is usually one of the subscribed ones; a server may also name a part of such a resource, as in `notes://all/1`. Several
/// updates of a resource that have not been read yet are one item, so the stream buffers each URI once, and at most
/// [`ClientLimits::queued_notifications`](crate::client::ClientLimits::queued_notifications) parts of as many bytes as
/// [`ClientLimits::queued_notification_bytes`](crate::client::ClientLimits::queued_notification_bytes).
///
/// After an interruption the client subscribes again, with a delay that grows from 0.5 to 32 seconds. Updates may have been missed
/// then, so the stream returns each subscribed URI once. [`McpClient::read_resource`](crate::client::McpClient::read_resource) returns no result from the time before.
///
/// # Errors
///
/// An error is the last item: the connection is closed ([`ClientError::Closed`]), or the subscription is refused six times in a row, for
/// example because a resource is gone or the credentials are not valid any more.
///
/// # Cancellation
///
/// Dropping the stream ends the subscription. In the legacy era, that is a request in the background for each resource without
/// another stream over this session. The stream keeps the connection of the client open.
#[must_use = "dropping the stream ends the subscription"]
pub struct ResourceUpdates {
    pending: Arc<PendingUpdates>,
    /// The task that follows the resources.
    _follower: Watcher,
}

impl ResourceUpdates {
    /// Waits for the next update. Returns `None` after the error that has ended the stream. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<String, ClientError>> {
        poll_fn(|context| self.pending.poll_next(context)).await
    }

    /// Subscribes to these resources.
    pub(super) async fn open(
        session: &Arc<McpClientSession>,
        uris: impl Iterator<Item = String>,
    ) -> Result<Self, ClientError> {
        let uris: BTreeSet<Arc<str>> = uris.map(Into::into).collect();
        if uris.is_empty() {
            return Err(ClientError::invalid("no resource is named"));
        }
        let pending = PendingUpdates::new(Vec::from_iter(uris), session.limits());
        let (session, shared) = (Arc::clone(session), Arc::clone(&pending));
        let opened = Opened::open(&session, pending.uris()).await?;
        let task = tokio::spawn(in_background(async move {
            let error = opened.follow(&session, &shared).await;
            shared.end(error);
        }));
        Ok(Self {
            pending,
            _follower: Watcher::new(vec![task.abort_handle()]),
        })
    }
}

impl Stream for ResourceUpdates {
    type Item = Result<String, ClientError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.pending.poll_next(context)
    }
}

impl fmt::Debug for ResourceUpdates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResourceUpdates")
            .field("uris", &self.pending.uris())
            .finish_non_exhaustive()
    }
}

/// Open subscription to the resources of one stream.
enum Opened {
    Legacy(LegacySubscription),
    Modern(Subscription),
}

impl Opened {
    async fn open(session: &Arc<McpClientSession>, uris: &[Arc<str>]) -> Result<Self, ClientError> {
        let is_modern = || session.protocol_version().is_modern();
        if !is_modern() {
            let opened = legacy::open(session, uris).await;
            // The request may find that a server of the modern era has replaced this one.
            if opened.is_ok() || !is_modern() {
                return opened.map(Self::Legacy);
            }
        }
        modern::open(session, uris).await.map(Self::Modern)
    }

    /// Passes the updates on. Returns the error that ends them for good.
    async fn follow(self, session: &McpClientSession, pending: &PendingUpdates) -> ClientError {
        let subscription = match self {
            Self::Modern(subscription) => Some(subscription),
            Self::Legacy(subscription) => {
                match legacy::follow(session, pending, subscription).await {
                    Ok(()) => None,
                    Err(error) => return error,
                }
            }
        };
        modern::follow(session, pending, subscription).await
    }
}

/// Number of renewals in a row that may be refused. A gateway that has started again does not have its resources at once, and
/// credentials may not be available for a short time.
const MAX_REFUSALS: u32 = 6;

/// Refusals in a row.
#[derive(Default)]
struct Refusals(u32);

impl Refusals {
    /// Counts the error of a renewal. Returns true if the next one would fail again.
    fn are_final(&mut self, error: &ClientError) -> bool {
        let code = error.as_refused().map(|error| error.code);
        let is_refused = error.is_unsupported()
            || matches!(
                code,
                Some(error_code::INVALID_PARAMS | error_code::RESOURCE_NOT_FOUND)
            )
            || matches!(
                error,
                ClientError::Unauthorized(_) | ClientError::Authorization(_)
            );
        self.0 = if is_refused { self.0 + 1 } else { 0 };
        self.0 >= MAX_REFUSALS
    }
}

fn is_closed(session: &McpClientSession) -> bool {
    session.changes().is_closed()
}

fn closed() -> ClientError {
    ClientError::closed("the connection has ended, and with it the updates of resources")
}

/// Waits for this duration, or for the end of the connection.
async fn pause(session: &McpClientSession, duration: Duration) {
    let ended = async {
        loop {
            let mut changed = pin!(session.changes().changed.notified());
            changed.as_mut().enable();
            if is_closed(session) {
                return;
            }
            changed.await;
        }
    };
    // Both ends are the same to the caller.
    let _ = tokio::time::timeout(duration, ended).await;
}
