//! Bodies of requests.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// Body that is complete.
pub(super) struct Text(pub(super) Option<Bytes>);

impl Body for Text {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Endless body in chunks.
pub(crate) struct Chunks {
    chunk: Option<Bytes>,
    length: u64,
    taken: Arc<AtomicUsize>,
}

impl Chunks {
    /// Creates an endless body, and a counter of the chunks that were read.
    pub(crate) fn endless(chunk: Vec<u8>) -> (Self, Arc<AtomicUsize>) {
        let taken = Arc::<AtomicUsize>::default();
        let chunks = Self {
            chunk: Some(chunk.into()),
            length: 0,
            taken: Arc::clone(&taken),
        };
        (chunks, taken)
    }

    /// Creates a body that never produces a chunk.
    pub(crate) fn silent() -> Self {
        Self {
            chunk: None,
            length: 0,
            taken: Arc::default(),
        }
    }

    /// Declares a length.
    pub(crate) fn of_length(mut self, length: u64) -> Self {
        self.length = length;
        self
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Some(chunk) = &self.chunk else {
            return Poll::Pending;
        };
        self.taken.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(chunk.clone()))))
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::default();
        hint.set_lower(self.length);
        hint
    }
}
