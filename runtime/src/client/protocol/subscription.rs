//! `subscriptions/listen`: subscription to changes in the modern era.

use std::fmt;
use std::future::Future;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use treenail_schema::{
    Request, SubscriptionFilter, SubscriptionsAcknowledgedNotification, SubscriptionsListenRequest,
};

use crate::client::ClientError;
use crate::client::cooperative::poll_within_budget;
use crate::client::protocol::broadcast::ServerNotification;
use crate::client::protocol::inner::{Inner, RequestTemplate};
use crate::client::protocol::params::{Params, RoundParams};
use crate::client::protocol::queue::Queue;
use crate::client::protocol::router::Registration;
use crate::client::timeout::timeout;

/// Subscription to changes in the modern era: a stream of notifications. It ends with an error when the connection breaks,
/// and without one when the server ends the subscription.
///
/// The server stores no state for it, so an ended subscription must be opened again.
///
/// # Cancellation
///
/// Dropping it ends the subscription.
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    acknowledged: SubscriptionFilter,
    /// The parameters of the acknowledgement, as JSON text.
    acknowledgement: String,
    queue: Arc<Queue<Arc<ServerNotification>>>,
    /// The request, which is answered when the server ends the subscription.
    request: Option<PendingRequest>,
    /// The error that ended the request, until the stream has returned it.
    error: Option<ClientError>,
    _registration: Registration,
}

type PendingRequest = Pin<Box<dyn Future<Output = Result<String, ClientError>> + Send>>;

impl Subscription {
    /// Returns the filter that the server acknowledged, which may cover less than the requested one.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// Waits for the next notification. Returns `None` at the end of the stream. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<ServerNotification, ClientError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Number of notifications that were dropped because the buffer was full. After a loss, fetch the lists and resources
    /// again.
    pub fn lost(&self) -> u64 {
        self.queue.lost()
    }

    /// Returns true if the server has acknowledged the member `taskIds` with this id.
    pub(crate) fn acknowledges_task(&self, id: &str) -> bool {
        #[derive(Deserialize)]
        struct Acknowledgement {
            notifications: Acknowledged,
        }
        #[derive(Deserialize)]
        struct Acknowledged {
            #[serde(default, rename = "taskIds")]
            task_ids: Vec<String>,
        }

        let acknowledgement = serde_json::from_str::<Acknowledgement>(&self.acknowledgement);
        acknowledgement.is_ok_and(|it| it.notifications.task_ids.iter().any(|known| known == id))
    }

    pub(super) async fn open(
        inner: &Arc<Inner>,
        filter: &SubscriptionFilter,
    ) -> Result<Self, ClientError> {
        Self::open_json(inner, &json!(filter)).await
    }

    /// As [`open`](Self::open), for a filter with members of extensions.
    pub(super) async fn open_json(inner: &Arc<Inner>, filter: &Value) -> Result<Self, ClientError> {
        const METHOD: &str = SubscriptionsListenRequest::METHOD;

        let (link, peer) = (&inner.link, inner.peer());
        peer.check_support(METHOD)?;
        let id = link.next_id();
        let (queue, registration) = link.router.on_subscription(id);
        let params = Params::new(&json!({ "notifications": filter }))?;
        let template = RequestTemplate::new(METHOD, params);
        let request = template.compose(id, &RoundParams::default(), &peer);
        let session = Arc::clone(&link.session);
        let request: PendingRequest = Box::pin(async move { session.request(request).await });
        let mut request = Some(request);
        let first = first_notification(&queue, &mut request);
        let first = timeout(link.limits.request_timeout, first).await??;
        let first = first.ok_or_else(|| {
            ClientError::closed("the subscription ended before its acknowledgement")
        })?;
        let acknowledged = first.decode::<SubscriptionsAcknowledgedNotification>();
        let members = first.params.clone();
        let acknowledged = acknowledged.ok_or_else(|| {
            ClientError::protocol("a subscription does not start with its acknowledgement")
        })?;
        Ok(Self {
            acknowledged: acknowledged.notifications,
            acknowledgement: members,
            queue,
            request,
            error: None,
            _registration: registration,
        })
    }
}

/// Waits for the first notification of a subscription. Returns `None` if there is none before the end of the request, which is then
/// removed.
async fn first_notification(
    queue: &Queue<Arc<ServerNotification>>,
    request: &mut Option<PendingRequest>,
) -> Result<Option<Arc<ServerNotification>>, ClientError> {
    poll_fn(|context| {
        if let Poll::Ready(first) = queue.poll_item(context) {
            return Poll::Ready(Ok(first));
        }
        let Some(pending) = request else {
            return Poll::Ready(Ok(None));
        };
        let ended = ready!(pending.as_mut().poll(context));
        *request = None;
        // Both may have arrived together.
        Poll::Ready(ended.map(|_| match queue.poll_item(context) {
            Poll::Ready(first) => first,
            Poll::Pending => None,
        }))
    })
    .await
}

impl Stream for Subscription {
    type Item = Result<ServerNotification, ClientError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        poll_within_budget(context, |context| this.poll_item(context))
    }
}

impl Subscription {
    fn poll_item(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<ServerNotification, ClientError>>> {
        match self.queue.poll_item(context) {
            Poll::Ready(Some(next)) => return Poll::Ready(Some(Ok(Arc::unwrap_or_clone(next)))),
            // Not all servers answer the request as well.
            Poll::Ready(None) if self.queue.is_cancelled() => self.request = None,
            _ => {}
        }
        let Some(request) = &mut self.request else {
            return Poll::Ready(self.error.take().map(Err));
        };
        let result = ready!(request.as_mut().poll(context));
        self.request = None;
        // Notifications that arrived before the end are returned first.
        self.error = result.err();
        match self.queue.poll_item(context) {
            Poll::Ready(Some(next)) => Poll::Ready(Some(Ok(Arc::unwrap_or_clone(next)))),
            _ => Poll::Ready(self.error.take().map(Err)),
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
