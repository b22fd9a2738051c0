//! Reading of request bodies, with bounded length and time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::header::EXPECT;
use http::request::Parts;
use http::{StatusCode, Version};
use http_body::Body;
use tokio::time::timeout;
use treenail_runtime::Limits;

use crate::read_timeout::ReadTimeout;
use crate::response::Rejection;

/// First bytes of an overlong body, which may have the id of its message.
const HEAD_BYTES: usize = 256;
/// Time for the rest of a body that is not read.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// Failure to read a body.
pub(super) enum BodyError {
    /// It exceeds the limit of a message. Contains its first bytes, if they were read.
    TooLong(Bytes),
    Rejected(Rejection),
}

/// Reads a complete body. Reading ends as soon as it exceeds the limit. If its declared length does, only its first bytes are
/// read, and none of them unless it `may_respond` to a request of the server.
pub(super) async fn read_body<B: Body>(
    body: Pin<&mut B>,
    limits: &Limits,
    timeout: &Arc<ReadTimeout>,
    may_respond: impl FnOnce() -> bool,
) -> Result<Bytes, BodyError> {
    let mut max_bytes = limits.message_bytes;
    let is_too_long = body.size_hint().lower() > max_bytes as u64;
    if is_too_long {
        if !may_respond() {
            return Err(BodyError::TooLong(Bytes::new()));
        }
        max_bytes = max_bytes.min(HEAD_BYTES);
    }
    let read = pin!(collect_body(body, max_bytes));
    match timeout.limit(read).await {
        Some(Ok(head)) if is_too_long => Err(BodyError::TooLong(head)),
        Some(read) => read,
        None => Err(BodyError::Rejected(Rejection::new(
            StatusCode::REQUEST_TIMEOUT,
            "the body took too long to arrive",
        ))),
    }
}

/// Receives the body of a rejected request, up to `max_bytes`. Returns `false` if the connection has to close instead.
///
/// hyper closes a connection whose request has not arrived completely. A client that sends its body after the head, as Python does,
/// would lose the next request on it, because a response that was written before does not announce that.
pub(super) async fn discard_body<B: Body>(
    parts: &Parts,
    mut body: Pin<&mut B>,
    max_bytes: usize,
) -> bool {
    if body.is_end_stream() || parts.version > Version::HTTP_11 {
        return true;
    }
    // The client waits for permission to send the body, which reading it would give.
    if parts.headers.contains_key(EXPECT) || body.size_hint().lower() > max_bytes as u64 {
        return false;
    }
    let mut room = max_bytes;
    let discard = async {
        while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
            let length = match frame.map(http_body::Frame::into_data) {
                Ok(Ok(data)) => data.remaining(),
                Ok(Err(_)) => 0,
                Err(_) => return false,
            };
            match room.checked_sub(length) {
                Some(rest) => room = rest,
                None => return false,
            }
        }
        true
    };
    timeout(DISCARD_TIMEOUT, discard).await.unwrap_or(false)
}

/// Collects the frames of a body of at most `max_bytes`. The common case of a single frame is not copied.
async fn collect_body<B: Body>(
    mut body: Pin<&mut B>,
    max_bytes: usize,
) -> Result<Bytes, BodyError> {
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let frame = frame.map_err(|_| {
            let message = "the body could not be read";
            BodyError::Rejected(Rejection::new(StatusCode::BAD_REQUEST, message))
        })?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        let length = data.remaining();
        if length > max_bytes - first.len() - rest.len() {
            let collected = if rest.is_empty() { &first } else { &rest[..] };
            let mut head = collected.chain(data).take(HEAD_BYTES);
            let length = head.remaining();
            return Err(BodyError::TooLong(head.copy_to_bytes(length)));
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
        let cases: [(&[&str], Result<&str, &str>); 7] = [
            (&[], Ok("")),
            (&["abcdef"], Ok("abcdef")),
            (&["", "ab", "", "cd", "ef"], Ok("abcdef")),
            (&["abcdefg"], Err("abcdefg")),
            (&["abc", "defg"], Err("abcdefg")),
            (&["ab", "cd", "ef", "g", "h"], Err("abcdefg")),
            (&["ab", "cd", "ef", ""], Ok("abcdef")),
        ];
        for (pieces, whole) in cases {
            let body = pin!(Pieces(pieces.iter().copied().collect()));
            let read = match collect_body(body, 6).await {
                Ok(whole) => Ok(whole),
                Err(BodyError::TooLong(head)) => Err(head),
                Err(BodyError::Rejected(rejection)) => panic!("{rejection:?}"),
            };
            let expected = whole.map(str::as_bytes).map_err(str::as_bytes);
            let read = read.as_deref().map_err(|head| &head[..]);
            assert_eq!(read, expected, "{pieces:?}");
        }
    }
}
