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
    match tokio::time::timeout(limits.http_read_within, collect(body, limits.message_bytes)).await {
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
