//! An answer in the making: written in place, or later by a call that was not ready at once.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll};

use tokio::sync::OwnedSemaphorePermit;
use treenail_schema::{RequestId, Revision};

use crate::request_id::IdKey;
use crate::respond::{Responding, ResultWriter};
use crate::revision::ResultFormat;
use crate::server::Server;
use crate::wire::RpcError;

/// Writes the answer to one request: its envelope, and the result that `write` makes.
pub(crate) fn write_result(out: &mut Vec<u8>, id: &str, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
    write(out);
    out.push(b'}');
}

/// Writes an error as the answer; `id` is missing only if the request's could not be read.
pub(crate) fn write_error(out: &mut Vec<u8>, id: Option<&str>, error: &RpcError) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        out.extend_from_slice(br#""id":"#);
        out.extend_from_slice(id.as_bytes());
        out.push(b',');
    }
    out.extend_from_slice(br#""error":"#);
    let start = out.len();
    if let Err(failure) = serde_json::to_writer(&mut *out, error) {
        tracing::error!(%failure, "an error could not be written");
        out.truncate(start);
        out.extend_from_slice(br#"{"code":-32603,"message":"internal error"}"#);
    }
    out.push(b'}');
}

/// The code of an answer to the request with this `id`, if the answer is an error.
#[cfg(feature = "http-server")]
pub(crate) fn error_code(answer: &[u8], id: &str) -> Option<i64> {
    let rest = answer.strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?;
    let rest = rest.strip_prefix(id.as_bytes())?;
    let code = rest.strip_prefix(br#","error":{"code":"#)?;
    let length = code.iter().position(|byte| matches!(byte, b',' | b'}'))?;
    std::str::from_utf8(&code[..length]).ok()?.parse().ok()
}

/// Answers a request with what `write` does: its result, an error, or nothing yet.
pub(crate) fn answer<T>(
    out: &mut Vec<u8>,
    id: &str,
    style: &ResultFormat,
    write: impl FnOnce(&mut ResultWriter<'_>) -> Result<Option<T>, RpcError>,
) -> Option<T> {
    let start = out.len();
    let mut written = Ok(None);
    write_result(out, id, |out| {
        written = write(&mut ResultWriter::new(out, style));
    });
    match written {
        Ok(None) => None,
        Ok(left) => {
            out.truncate(start);
            left
        }
        Err(error) => {
            out.truncate(start);
            write_error(out, Some(id), &error);
            None
        }
    }
}

/// A request that has not been answered yet.
pub(crate) struct PendingRequest {
    server: Server,
    revision: Revision,
    id: Arc<str>,
    responding: Responding,
    /// Its place in the budget of the server.
    place: Option<OwnedSemaphorePermit>,
}

impl PendingRequest {
    pub(crate) fn new(
        server: &Server,
        revision: Revision,
        id: Arc<str>,
        responding: Responding,
    ) -> Self {
        Self {
            server: server.clone(),
            revision,
            id,
            responding,
            place: None,
        }
    }

    /// The same with a place in the budget of the server, which is free again when the request is answered or dropped.
    pub(crate) fn with_place(mut self, place: Option<OwnedSemaphorePermit>) -> Self {
        self.place = place;
        self
    }

    /// Goes on with the request; its whole answer is appended to `out` when it is ready, and nothing before.
    pub(crate) fn poll_answer(
        &mut self,
        context: &mut task::Context<'_>,
        out: &mut Vec<u8>,
    ) -> Poll<()> {
        let Self {
            server,
            revision,
            id,
            responding,
            ..
        } = self;
        let pending = answer(out, id, server.style(*revision), |result| match responding
            .as_mut()
            .poll_respond(context, result)
        {
            Poll::Ready(written) => written.map(|()| None),
            Poll::Pending => Ok(Some(())),
        });
        if pending.is_some() {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

/// An answer that is not ready yet: a future of its bytes, without a line end.
///
/// Dropping it stops what it waits for; nothing is sent for that.
#[must_use = "a request goes on only while it is polled"]
pub struct PendingResponse {
    /// The id of the request, if it is a single one.
    id: Option<Arc<str>>,
    read: OnceLock<Option<RequestId>>,
    batch: bool,
    requests: Vec<PendingRequest>,
    out: Vec<u8>,
}

impl fmt::Debug for PendingResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PendingResponse")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl PendingResponse {
    pub(crate) fn one(request: PendingRequest) -> Self {
        Self {
            id: Some(Arc::clone(&request.id)),
            read: OnceLock::new(),
            batch: false,
            requests: vec![request],
            out: Vec::new(),
        }
    }

    /// The answer to a batch; `out` has the answers that are ready, with a comma after each.
    pub(crate) fn batch(requests: Vec<PendingRequest>, out: Vec<u8>) -> Self {
        Self {
            id: None,
            read: OnceLock::new(),
            batch: true,
            requests,
            out,
        }
    }

    pub(crate) fn into_requests(self) -> Vec<PendingRequest> {
        self.requests
    }

    /// Takes the places of its calls in the budget of the server, for someone who knows better when they are free again.
    #[cfg(feature = "http-server")]
    pub(crate) fn take_places(&mut self) -> Vec<OwnedSemaphorePermit> {
        let requests = self.requests.iter_mut();
        requests
            .filter_map(|request| request.place.take())
            .collect()
    }

    /// How many calls are in flight for it.
    pub fn calls(&self) -> usize {
        self.requests.len()
    }

    /// The id of the request that this is the answer to; a batch has none.
    pub fn id(&self) -> Option<&RequestId> {
        let id = self.id.as_deref()?;
        let read = || serde_json::from_str(id).ok();
        self.read.get_or_init(read).as_ref()
    }

    /// The same, to find the call by.
    pub(crate) fn key(&self) -> Option<IdKey> {
        self.id.as_ref().map(IdKey::of)
    }
}

impl Future for PendingResponse {
    type Output = Vec<u8>;

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Vec<u8>> {
        let Self {
            batch,
            requests,
            out,
            ..
        } = self.get_mut();
        requests.retain_mut(|request| {
            let ready = request.poll_answer(context, out).is_ready();
            if ready && *batch {
                out.push(b',');
            }
            !ready
        });
        if !requests.is_empty() {
            return Poll::Pending;
        }
        if *batch {
            close_batch(out);
        }
        Poll::Ready(std::mem::take(out))
    }
}

/// Makes an array of answers that have a comma after each.
pub(crate) fn close_batch(out: &mut Vec<u8>) {
    out.pop();
    out.insert(0, b'[');
    out.push(b']');
}
