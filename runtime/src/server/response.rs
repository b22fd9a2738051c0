//! Responses to calls: written in place, or later by a call that is not ready at once.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll};

use tokio::sync::OwnedSemaphorePermit;
use treenail_schema::{RequestId, Revision};

use crate::call::Call;
use crate::cancelled_calls::CallNumber;
use crate::handler::PendingResult;
use crate::queue::UnansweredCall;
use crate::request_id::IdKey;
use crate::result_writer::ResultWriter;
use crate::revision::{ResultFormat, without_retired_code};
use crate::server::Server;
use crate::server::observe::{Observation, Outcome};
use crate::wire::{RpcError, write_error, write_result};

/// Writes the response to a request around the result that `write` writes. If `write` returns a value or an error, its output is
/// discarded: the value means that the result is pending, and the error is the response.
#[inline]
pub(crate) fn write_response<T>(
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
        Ok(pending) => {
            out.truncate(start);
            pending
        }
        Err(error) => {
            out.truncate(start);
            let error = without_retired_code(error, style.revision());
            write_error(out, Some(id), &error);
            None
        }
    }
}

/// Request whose result is pending.
pub(crate) struct PendingRequest {
    server: Server,
    revision: Revision,
    id: Arc<str>,
    result: PendingResult,
    /// Its place in the call budget of the server.
    place: Option<OwnedSemaphorePermit>,
    observation: Option<Box<dyn Observation>>,
    /// Dropped after the function.
    call: UnansweredCall,
}

impl PendingRequest {
    pub(crate) fn new(call: &Call<'_>, result: PendingResult) -> Self {
        Self {
            server: call.server.clone(),
            revision: call.peer.revision(),
            id: call.id.shared(),
            result,
            place: None,
            observation: None,
            call: call.outbox.unanswered_call(),
        }
    }

    /// Attaches the observation of the request, which surrounds all of its polls.
    pub(crate) fn with_observation(mut self, observation: Box<dyn Observation>) -> Self {
        self.observation = Some(observation);
        self
    }

    /// Attaches a place in the call budget of the server, which is released when the request is answered or dropped.
    pub(crate) fn with_place(mut self, place: Option<OwnedSemaphorePermit>) -> Self {
        self.place = place;
        self
    }

    /// Polls the result. The whole response is appended to `out` when it is ready, and nothing before. If `out` has more than `most`
    /// bytes already, the response is an error.
    pub(crate) fn poll_response(
        &mut self,
        context: &mut task::Context<'_>,
        out: &mut Vec<u8>,
        most: Option<usize>,
    ) -> Poll<()> {
        let Some(observation) = self.observation.take() else {
            return self.poll_unobserved(context, out, most);
        };
        let (start, mut polled) = (out.len(), Poll::Pending);
        observation.in_scope(&mut || polled = self.poll_unobserved(context, out, most));
        match polled {
            Poll::Ready(()) => observation.end(&Outcome::of_response(&out[start..])),
            Poll::Pending => self.observation = Some(observation),
        }
        polled
    }

    fn poll_unobserved(
        &mut self,
        context: &mut task::Context<'_>,
        out: &mut Vec<u8>,
        most: Option<usize>,
    ) -> Poll<()> {
        let start = out.len();
        let Self {
            server,
            revision,
            id,
            result: pending,
            ..
        } = self;
        let pending = write_response(out, id, server.style(*revision), |result| {
            match pending.poll_result(context, result) {
                Poll::Ready(written) => written.map(|()| None),
                Poll::Pending => Ok(Some(())),
            }
        });
        if pending.is_some() {
            return Poll::Pending;
        }
        if let Some(most) = most.filter(|most| start > *most) {
            out.truncate(start);
            write_error(out, Some(id), &left_out(most));
        }
        self.call.set_answered();
        Poll::Ready(())
    }
}

/// Future of a response, as bytes without a line end.
///
/// Dropping it cancels its calls. Nothing is sent for that, and the connection drops the messages of these calls that it has not
/// returned yet.
#[must_use = "a response makes progress only while it is polled"]
pub struct PendingResponse {
    /// The id of the request, if it is a single one.
    id: Option<Arc<str>>,
    read: OnceLock<Option<RequestId>>,
    /// The size of the responses to a batch above which further ones are left out.
    batch: Option<usize>,
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
    /// Writes the response to one request into `buffer`, which is empty.
    #[doc(hidden)]
    pub fn with_buffer(mut self, buffer: Vec<u8>) -> Self {
        if self.batch.is_none() {
            self.out = buffer;
        }
        self
    }

    pub(crate) fn one(request: PendingRequest) -> Self {
        Self {
            id: Some(Arc::clone(&request.id)),
            read: OnceLock::new(),
            batch: None,
            requests: vec![request],
            out: Vec::new(),
        }
    }

    /// Makes the response to a batch. `out` contains the responses that are ready, with a comma after each. Once the responses take
    /// more than `most` bytes, those of later results are errors.
    pub(crate) fn batch(requests: Vec<PendingRequest>, out: Vec<u8>, most: usize) -> Self {
        Self {
            id: None,
            read: OnceLock::new(),
            batch: Some(most),
            requests,
            out,
        }
    }

    pub(crate) fn into_requests(self) -> Vec<PendingRequest> {
        self.requests
    }

    /// Takes the places of its calls in the call budget, for a caller that releases them itself.
    #[cfg(feature = "http-server")]
    #[doc(hidden)]
    pub fn take_places(&mut self) -> Vec<OwnedSemaphorePermit> {
        let requests = self.requests.iter_mut();
        requests
            .filter_map(|request| request.place.take())
            .collect()
    }

    /// Returns the number of calls in flight for it.
    pub fn calls(&self) -> usize {
        self.requests.len()
    }

    /// Returns the number of its call; a batch has none.
    pub(crate) fn call_number(&self) -> Option<CallNumber> {
        self.id.as_ref()?;
        self.requests.first()?.call.number()
    }

    /// Returns the id of its request; a batch has none.
    pub fn id(&self) -> Option<&RequestId> {
        let id = self.id.as_deref()?;
        let read = || serde_json::from_str(id).ok();
        self.read.get_or_init(read).as_ref()
    }

    /// Returns the id as a key of call tables.
    #[doc(hidden)]
    pub fn key(&self) -> Option<IdKey> {
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
            let ready = request.poll_response(context, out, *batch).is_ready();
            if ready && batch.is_some() {
                out.push(b',');
            }
            !ready
        });
        if !requests.is_empty() {
            return Poll::Pending;
        }
        if batch.is_some() {
            close_batch(out);
        }
        Poll::Ready(std::mem::take(out))
    }
}

/// Returns the error in place of a result for which the response to a batch has no room.
fn left_out(most: usize) -> RpcError {
    RpcError::internal(format!(
        "the call has ended, but its result is left out, because the other responses of its batch take more than {most} bytes"
    ))
}

/// Turns responses with a comma after each into an array.
pub(crate) fn close_batch(out: &mut Vec<u8>) {
    out.pop();
    out.insert(0, b'[');
    out.push(b']');
}
