//! Bodies: a complete one to send, and bounded reading of a received one.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::timeout;

use crate::client_body::HttpClientBody;
use crate::error::BoxError;
use crate::failure::describe;

/// Time limit for reading the rest of a response after its answer.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum size of that rest in bytes.
const MAX_DRAIN_BYTES: usize = 4 * 1024;

/// A body that is complete in memory.
#[derive(Debug)]
pub(crate) struct FullBody(Bytes);

impl FullBody {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// Returns the bytes that were not read yet.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.0
    }
}

impl Body for FullBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = std::mem::take(&mut self.0);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

/// Outcome of reading a body.
#[derive(Debug)]
pub enum End {
    /// The body was read completely.
    Complete,
    /// The body exceeds the limit.
    TooLong,
    /// The connection failed, for this reason.
    Broken(String),
}

/// Reads at most `max_bytes` bytes of a body.
pub async fn read<B>(body: &mut B, max_bytes: usize) -> (Vec<u8>, End)
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    let mut bytes = Vec::new();
    if body.size_hint().lower() > max_bytes as u64 {
        return (bytes, End::TooLong);
    }
    loop {
        match next_chunk(body).await {
            None => return (bytes, End::Complete),
            Some(Err(error)) => return (bytes, End::Broken(describe(&*error.into()))),
            Some(Ok(chunk)) => {
                let room = max_bytes - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    return (bytes, End::TooLong);
                }
            }
        }
    }
}

/// Returns the next chunk of a body. Trailers are skipped.
pub async fn next_chunk<B>(body: &mut B) -> Option<Result<Bytes, B::Error>>
where
    B: Body<Data = Bytes> + Unpin,
{
    loop {
        let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
        match frame.map(Frame::into_data) {
            Ok(Ok(chunk)) => return Some(Ok(chunk)),
            Ok(Err(_)) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}

/// Reads a response to its end in the background, if that follows soon. Its connection can then be reused, and the server
/// does not see a disconnect.
pub fn release(mut body: HttpClientBody) {
    tokio::spawn(async move {
        let end = read(&mut body, MAX_DRAIN_BYTES);
        // On failure the connection is closed, since the body is dropped.
        drop(timeout(DRAIN_TIMEOUT, end).await);
    });
}
