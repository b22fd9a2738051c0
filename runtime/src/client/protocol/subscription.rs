//! `subscriptions/listen`: the changes that a client of the modern era wants to hear of.

use std::fmt;
use std::future::Future;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde_json::json;
use treenail_schema::{
    Request, SubscriptionFilter, SubscriptionsAcknowledgedNotification, SubscriptionsListenRequest,
};

use crate::client::ClientError;
use crate::client::protocol::core::{Core, Draft};
use crate::client::protocol::feed::ServerNotification;
use crate::client::protocol::queue::Queue;
use crate::client::protocol::router::Listening;
use crate::client::protocol::text::{Head, Round};

/// The changes that a client of the modern era hears of: a stream of notifications, which ends with an error when the
/// connection breaks, and without one when the server ends it. Nothing is remembered by the server, so one that has ended
/// is opened anew.
///
/// # Cancellation
///
/// Dropping it ends the subscription.
pub struct Subscription {
    acknowledged: SubscriptionFilter,
    queue: Arc<Queue<Arc<ServerNotification>>>,
    /// The request, which is answered when the server ends the subscription.
    request: Option<Running>,
    /// Why it has ended, until that has been told.
    end: Option<ClientError>,
    _listening: Listening,
}

type Running = Pin<Box<dyn Future<Output = Result<String, ClientError>> + Send>>;

impl Subscription {
    /// What the server tells of; it may be less than what was asked for.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// How many notifications have been lost because they were not taken in time. What they said may be known by
    /// fetching the lists and resources anew.
    pub fn lost(&self) -> u64 {
        self.queue.lost()
    }

    pub(super) async fn open(
        core: &Arc<Core>,
        filter: &SubscriptionFilter,
    ) -> Result<Self, ClientError> {
        const METHOD: &str = SubscriptionsListenRequest::METHOD;

        let facts = core.facts();
        facts.allow(METHOD)?;
        let id = core.next_id();
        let (queue, listening) = core.router.on_subscription(id);
        let draft = Draft::new(METHOD, Head::new(&json!({ "notifications": filter }))?);
        let request = draft.compose(id, &Round::default(), &facts);
        let session = Arc::clone(&core.session);
        let mut request: Running = Box::pin(async move { session.request(request).await });

        let limit = core.limits.request_timeout;
        let first = poll_fn(|context| match queue.poll_next(context) {
            Poll::Ready(first) => Poll::Ready(Ok(first)),
            Poll::Pending => request
                .as_mut()
                .poll(context)
                .map(|ended| ended.map(|_| None)),
        });
        let first = tokio::time::timeout(limit, first).await;
        let first = first.map_err(|_| ClientError::Timeout(limit))??;
        let first = first.ok_or_else(|| ClientError::closed("it ended before it was open"))?;
        let acknowledged = first.decode::<SubscriptionsAcknowledgedNotification>();
        let acknowledged = acknowledged.ok_or_else(|| {
            ClientError::protocol("a subscription does not begin with its acknowledgement")
        })?;
        Ok(Self {
            acknowledged: acknowledged.notifications,
            queue,
            request: Some(request),
            end: None,
            _listening: listening,
        })
    }
}

impl Stream for Subscription {
    type Item = Result<ServerNotification, ClientError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Poll::Ready(Some(next)) = this.queue.poll_next(context) {
            return Poll::Ready(Some(Ok(Arc::unwrap_or_clone(next))));
        }
        let Some(request) = &mut this.request else {
            return Poll::Ready(this.end.take().map(Err));
        };
        let ended = std::task::ready!(request.as_mut().poll(context));
        this.request = None;
        // What came before the end is told before it.
        this.end = ended.err();
        match this.queue.poll_next(context) {
            Poll::Ready(Some(next)) => Poll::Ready(Some(Ok(Arc::unwrap_or_clone(next)))),
            _ => Poll::Ready(this.end.take().map(Err)),
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Subscription")
            .field("acknowledged", &self.acknowledged)
            .finish_non_exhaustive()
    }
}
