//! Bodies of requests and responses.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::sync::mpsc;

/// Maximum size of a request, in bytes.
const MAX_REQUEST_BYTES: usize = 8 << 20;

/// Body of a response: bytes, or a stream of lines.
#[derive(Debug)]
pub(crate) enum ResponseBody {
    Whole(Option<Bytes>),
    Lines(mpsc::Receiver<Arc<str>>),
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Lines(lines) => lines.poll_recv(context).map(|line| {
                line.map(|line| {
                    let mut bytes = Vec::with_capacity(line.len() + 1);
                    bytes.extend_from_slice(line.as_bytes());
                    bytes.push(b'\n');
                    Bytes::from(bytes)
                })
            }),
        };
        bytes.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Lines(_) => SizeHint::default(),
        }
    }
}

/// Reads the body of a request; `None` if it is too large or incomplete.
pub(super) async fn read(mut body: Incoming) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let Ok(data) = frame.ok()?.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > MAX_REQUEST_BYTES {
            return None;
        }
        bytes.extend_from_slice(&data);
    }
    Some(bytes)
}
