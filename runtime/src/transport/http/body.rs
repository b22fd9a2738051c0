//! Reading the body of a request, within bounds.

use std::future::poll_fn;
use std::pin::pin;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;

use crate::limits::Limits;
use crate::transport::http::reply::Refusal;

/// Reads a whole body. What is too long is refused before it is read, if it says so, or as soon as it is too long.
pub(super) async fn read<B: Body>(body: B, limits: &Limits) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > limits.message_bytes as u64 {
        return Err(too_long());
    }
    match tokio::time::timeout(
        limits.http.read_timeout,
        collect(body, limits.message_bytes),
    )
    .await
    {
        Ok(read) => read,
        Err(_) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            "the body took too long to arrive",
        )),
    }
}

/// Most bodies come in one piece, which is taken as it is.
async fn collect<B: Body>(body: B, most: usize) -> Result<Bytes, Refusal> {
    let mut body = pin!(body);
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let frame = frame
            .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "the body could not be read"))?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        let length = data.remaining();
        if length > most - first.len() - rest.len() {
            return Err(too_long());
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

fn too_long() -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "the body is longer than a message may be",
    )
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::Pin;
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
    async fn pieces_are_put_together_within_the_bound() {
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
            let body = Pieces(pieces.iter().copied().collect());
            let read = collect(body, 6).await.ok();
            assert_eq!(read.as_deref(), whole.map(str::as_bytes), "{pieces:?}");
        }
    }
}
