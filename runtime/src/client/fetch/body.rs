//! Bodies: one that is sent as a whole, and the bounded reading of one that comes.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::timeout;

/// How long a response may go on after what was wanted of it.
const SOON: Duration = Duration::from_secs(1);
/// Bytes that may come after that.
const DREGS: usize = 4 * 1024;

/// A body that is there already.
#[derive(Debug)]
pub(crate) struct Whole(Option<Bytes>);

impl Whole {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self((!bytes.is_empty()).then_some(bytes))
    }
}

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.0.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(length as u64)
    }
}

/// How reading a body has ended.
#[derive(Debug)]
pub enum End {
    /// The whole body was read.
    Whole,
    /// There is more than may be read.
    TooLong,
    /// The connection failed.
    Broken(hyper::Error),
}

/// Reads a body, but not more than `most` bytes of it.
pub async fn read(body: &mut Incoming, most: usize) -> (Vec<u8>, End) {
    let mut bytes = Vec::new();
    if body.size_hint().lower() > most as u64 {
        return (bytes, End::TooLong);
    }
    loop {
        match next(body).await {
            None => return (bytes, End::Whole),
            Some(Err(error)) => return (bytes, End::Broken(error)),
            Some(Ok(piece)) => {
                let room = most - bytes.len();
                bytes.extend_from_slice(&piece[..piece.len().min(room)]);
                if piece.len() > room {
                    return (bytes, End::TooLong);
                }
            }
        }
    }
}

/// The next piece of a body; trailers are nothing to us.
pub async fn next(body: &mut Incoming) -> Option<Result<Bytes, hyper::Error>> {
    loop {
        let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
        match frame.map(Frame::into_data) {
            Ok(Ok(piece)) => return Some(Ok(piece)),
            Ok(Err(_)) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}

/// Lets a response end by itself, if it does that soon: then its connection can be used again, and the server does not see a
/// client that leaves.
pub fn release(mut body: Incoming) {
    tokio::spawn(async move {
        let end = read(&mut body, DREGS);
        // Whatever comes of it, dropping the body is the end.
        drop(timeout(SOON, end).await);
    });
}
