//! Reading of request bodies, with bounded length and time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;
use treenail_runtime::Limits;
use treenail_runtime::internal::oversized;

use crate::read_timeout::ReadTimeout;
use crate::response::Rejection;

/// Reads a complete body. An overlong body is rejected before reading if its length is declared, otherwise as soon as it
/// exceeds the limit.
pub(super) async fn read_body<B: Body>(
    body: B,
    limits: &Limits,
    timeout: &Arc<ReadTimeout>,
) -> Result<Bytes, Rejection> {
    if body.size_hint().lower() > limits.message_bytes as u64 {
        return Err(body_too_long(limits.message_bytes));
    }
    let body = pin!(body);
    let read = pin!(collect_body(body, limits.message_bytes));
    timeout.limit(read).await.unwrap_or_else(|| {
        Err(Rejection::new(
            StatusCode::REQUEST_TIMEOUT,
            "the body took too long to arrive",
        ))
    })
}

/// Collects the frames of a body of at most `max_bytes`. The common case of a single frame is not copied.
async fn collect_body<B: Body>(
    mut body: Pin<&mut B>,
    max_bytes: usize,
) -> Result<Bytes, Rejection> {
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let frame = frame
            .map_err(|_| Rejection::new(StatusCode::BAD_REQUEST, "the body could not be read"))?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        let length = data.remaining();
        if length > max_bytes - first.len() - rest.len() {
            return Err(body_too_long(max_bytes));
        }
        if first.is_empty() && rest.is_empty() {
            first = data.copy_to_bytes(length);
            continue;
        }
        if rest.is_empty() {
            rest.extend_from_slice(&std::mem::take(&mut first));
        }
        rest.put(data);
    }
    Ok(if rest.is_empty() {
        first
    } else {
        rest.freeze()
    })
}

fn body_too_long(max_bytes: usize) -> Rejection {
    Rejection::with_error(StatusCode::PAYLOAD_TOO_LARGE, None, oversized(max_bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::task::{Context, Poll};

    use http_body::Frame;

    use super::*;

    struct Pieces(VecDeque<&'static str>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let piece = self.get_mut().0.pop_front();
            Poll::Ready(piece.map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes())))))
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn frames_are_concatenated_up_to_the_limit() {
        let cases: [(&[&str], Option<&str>); 7] = [
            (&[], Some("")),
            (&["abcdef"], Some("abcdef")),
            (&["", "ab", "", "cd", "ef"], Some("abcdef")),
            (&["abcdefg"], None),
            (&["abc", "defg"], None),
            (&["ab", "cd", "ef", "g"], None),
            (&["ab", "cd", "ef", ""], Some("abcdef")),
        ];
        for (pieces, whole) in cases {
            let body = pin!(Pieces(pieces.iter().copied().collect()));
            let read = collect_body(body, 6).await.ok();
            assert_eq!(read.as_deref(), whole.map(str::as_bytes), "{pieces:?}");
        }
    }
}
