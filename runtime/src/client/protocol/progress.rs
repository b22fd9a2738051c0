//! The progress of one request, as a stream.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use treenail_schema::ProgressNotificationParams;

use crate::client::ClientLimits;
use crate::client::protocol::queue::{Queue, Weighed};

/// The progress of one request: a stream that ends with the request. Made by
/// [`ClientRequest::progress`](crate::client::ClientRequest::progress).
///
/// So much waits as [`ClientLimits::queued_notifications`] allows; when more comes, the oldest is lost.
#[derive(Debug)]
pub struct ProgressStream(Arc<Queue<ProgressNotificationParams>>);

impl ProgressStream {
    /// How many have been lost because they were not taken in time.
    pub fn lost(&self) -> u64 {
        self.0.lost()
    }
}

impl Stream for ProgressStream {
    type Item = ProgressNotificationParams;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next(context)
    }
}

impl Weighed for ProgressNotificationParams {
    fn bytes(&self) -> usize {
        // Extensions put much more into `_meta` than there is otherwise.
        let meta = self
            .meta
            .as_ref()
            .and_then(|meta| serde_json::to_string(meta).ok());
        let message = self.message.as_ref().map_or(0, String::len);
        64 + message + meta.map_or(0, |meta| meta.len())
    }
}

/// Where the progress comes from; the stream ends when it is dropped.
#[derive(Debug)]
pub(super) struct Source(Arc<Queue<ProgressNotificationParams>>);

impl Source {
    pub(super) fn new(limits: &ClientLimits) -> (Self, ProgressStream) {
        let queue = Queue::new(limits);
        (Self(Arc::clone(&queue)), ProgressStream(queue))
    }

    pub(super) fn push(&self, progress: ProgressNotificationParams) {
        self.0.push(progress);
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.0.end();
    }
}
