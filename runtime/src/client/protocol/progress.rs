//! Progress of one request, as a stream.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use treenail_schema::ProgressNotificationParams;

use crate::client::ClientLimits;
use crate::client::protocol::queue::{ByteSize, Queue};
use crate::wire::weight;

/// Stream of the progress of one request, which ends with the request. Returned by
/// [`ClientRequest::progress`](crate::client::ClientRequest::progress).
///
/// It buffers at most [`ClientLimits::queued_notifications`]; after that, the oldest are dropped.
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct ProgressStream(Arc<Queue<ProgressNotificationParams>>);

impl ProgressStream {
    /// Waits for the next progress notification. Returns `None` at the end of the request. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<ProgressNotificationParams> {
        poll_fn(|context| self.0.poll_next(context)).await
    }

    /// Number of notifications that were dropped because the buffer was full.
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

impl ByteSize for ProgressNotificationParams {
    fn bytes(&self) -> usize {
        progress_bytes(self)
    }
}

/// Estimates the memory of a progress notification in bytes.
pub fn progress_bytes(progress: &ProgressNotificationParams) -> usize {
    // Extensions may put far more into `_meta` than the other members contain.
    let meta = progress.meta.as_ref();
    let meta = meta.and_then(|meta| serde_json::to_string(meta).ok());
    let message = progress.message.as_ref().map_or(0, String::len);
    64 + message + meta.map_or(0, |meta| weight(&meta))
}

/// Sender of a [`ProgressStream`]. Dropping it ends the stream.
#[derive(Debug)]
pub(super) struct ProgressSender(Arc<Queue<ProgressNotificationParams>>);

impl ProgressSender {
    pub(super) fn channel(limits: &ClientLimits) -> (Self, ProgressStream) {
        let queue = Queue::new(limits);
        (Self(Arc::clone(&queue)), ProgressStream(queue))
    }

    pub(super) fn send(&self, progress: ProgressNotificationParams) {
        self.0.push(progress);
    }
}

impl Drop for ProgressSender {
    fn drop(&mut self) {
        self.0.close();
    }
}
