//! Pending requests of a client over `jsoncall`, shared with the guard.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit, watch};
use treenail_runtime::RpcError;
use treenail_runtime::client::{ClientError, ClientLimits, IncomingHandler};
use treenail_runtime::internal::StrayLines;
use treenail_runtime::internal::{
    IdAtEnds, answered_request, check_decoded_size, copied_id, id_at_ends, is_cut_off, oversized,
};

use crate::convert::{push_request, push_response, read_error};
use crate::guard::{Rejected, Side};

/// Pending requests of a client, shared with the guard.
pub(super) struct Calls {
    state: Mutex<CallsState>,
    pub(super) incoming: OnceLock<Arc<dyn IncomingHandler>>,
    /// Limits the requests in flight.
    permits: Semaphore,
    pub(super) closing: watch::Sender<bool>,
    ended: watch::Sender<bool>,
    pub(super) stray: StrayLines,
    limits: ClientLimits,
}

#[derive(Default)]
struct CallsState {
    open: HashMap<i64, Call>,
    closed: Option<ClientError>,
}

#[derive(Default)]
struct Call {
    /// Id assigned by `jsoncall`; unknown until the request is written.
    number: Option<u64>,
    /// Protocol error in the response.
    error: Option<ClientError>,
}

impl Calls {
    pub(super) fn new(limits: &ClientLimits, stray: StrayLines) -> Self {
        let max_requests = limits.requests_in_flight.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            state: Mutex::default(),
            incoming: OnceLock::new(),
            permits: Semaphore::new(max_requests),
            closing: watch::Sender::new(false),
            ended: watch::Sender::new(false),
            stray,
            limits: limits.clone(),
        }
    }

    fn state(&self) -> MutexGuard<'_, CallsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit to send a request.
    pub(super) async fn permit(&self) -> Result<SemaphorePermit<'_>, ClientError> {
        self.permits.acquire().await.map_err(|_| self.reason())
    }

    pub(super) fn check_open(&self) -> Result<(), ClientError> {
        match &self.state().closed {
            Some(reason) => Err(reason.clone()),
            None if *self.closing.borrow() => {
                Err(ClientError::closed("the session is being closed"))
            }
            None => Ok(()),
        }
    }

    pub(super) fn open(&self, id: i64) {
        self.state().open.insert(id, Call::default());
    }

    /// Removes a request and returns the protocol error of its response, if any.
    pub(super) fn remove(&self, id: i64) -> Option<ClientError> {
        self.state().open.remove(&id)?.error
    }

    /// Returns the reason why the session ended.
    pub(super) fn reason(&self) -> ClientError {
        let closed = self.state().closed.clone();
        closed.unwrap_or_else(|| ClientError::closed("the session was dropped"))
    }

    /// Sets the reason why the session ends; only the first one is stored.
    pub(super) fn set_reason(&self, reason: ClientError) {
        self.state().closed.get_or_insert(reason);
    }

    /// Signals the end of the session.
    pub(super) fn end(&self) {
        if self.ended.send_replace(true) {
            return;
        }
        self.permits.close();
        if let Some(incoming) = self.incoming.get() {
            incoming.closed();
        }
    }

    pub(super) async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        // The sender lives as long as this borrow.
        drop(ended.wait_for(|ended| *ended).await);
    }

    /// Returns true if the server may send requests.
    fn accepts_requests(&self) -> bool {
        let incoming = self.incoming.get();
        incoming.is_some_and(|incoming| incoming.accepts_requests())
    }

    /// Fails a pending request.
    fn fail(&self, id: i64, error: ClientError, inward: &mut Vec<u8>) {
        if let Some(call) = self.state().open.get_mut(&id) {
            if let Some(number) = call.number.take() {
                call.error = Some(error);
                let error = RpcError::internal("");
                push_response(inward, number, Err(&error));
            }
        }
    }

    /// Takes the `jsoncall` id of a request, so that only one response is delivered.
    fn take_number(&self, id: i64) -> Option<u64> {
        self.state().open.get_mut(&id)?.number.take()
    }
}

impl Side for Arc<Calls> {
    fn on_response(&self, id: &str, response: Result<&str, &str>, inward: &mut Vec<u8>) {
        let Some(id) = copied_id(id) else {
            tracing::debug!("ignored a response with an unknown id");
            return;
        };
        let weighed =
            response.map_or_else(|error| check_decoded_size(error, &self.limits), |_| Ok(()));
        if let Err(error) = weighed {
            return self.fail(id, error, inward);
        }
        let error = match response {
            Ok(result) if result.starts_with('{') => {
                if let Some(number) = self.take_number(id) {
                    push_response(inward, number, Ok(result));
                }
                return;
            }
            Ok(_) => "the result is not an object",
            Err(error) => match read_error(error) {
                Some(error) => {
                    if let Some(number) = self.take_number(id) {
                        push_response(inward, number, Err(&error));
                    }
                    return;
                }
                None => "the error has no code or no message",
            },
        };
        self.fail(id, ClientError::protocol(error), inward);
    }

    fn on_rejected(&self, rejected: Rejected<'_>, inward: &mut Vec<u8>, outward: &mut Vec<u8>) {
        let max = self.limits.message_bytes;
        let (id, text, error) = match rejected {
            Rejected::Invalid(invalid, text) => {
                let id = answered_request(invalid, text);
                if let (None, Some(id), true) = (id, invalid.id, self.accepts_requests()) {
                    return push_response(outward, id, Err(&invalid.error));
                }
                (id, text, RpcError::clone(&invalid.error))
            }
            Rejected::TooLong { head, tail } => {
                let IdAtEnds { id, answered, .. } = id_at_ends(head, tail);
                if let Some(id) = answered.and_then(copied_id) {
                    return self.fail(id, ClientError::TooLong(max), inward);
                }
                let error = oversized(max);
                if let Some(id) = id.filter(|_| self.accepts_requests()) {
                    return push_response(outward, id, Err(&error));
                }
                (None, head, error)
            }
        };
        match id {
            Some(id) => {
                let reason = format!("its answer is no message: {}", error.message);
                self.fail(id, ClientError::protocol(reason), inward);
            }
            None => self.stray.record(text, &error),
        }
    }

    fn drops_last(&self, line: &[u8]) -> bool {
        let is_cut_off = is_cut_off(line);
        if is_cut_off {
            let error = RpcError::invalid_request("it has no end");
            self.stray.record(line, &error);
        }
        is_cut_off
    }

    /// The caller's id precedes the method, because `jsoncall` has no other place for it.
    fn write_request(&self, number: &str, method: &str, params: &str, outward: &mut Vec<u8>) {
        let Some((id, method)) = method.split_once(':') else {
            return;
        };
        let Ok(id) = id.parse() else { return };
        // A dropped request is sent anyway; its cancellation follows.
        if let Some(call) = self.state().open.get_mut(&id) {
            call.number = number.parse().ok();
        }
        push_request(outward, id, method, params);
    }
}
