//! Requests of a server for a client: their calls, the open ones, and their cancellation.

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use treenail_runtime::RpcError;
use treenail_runtime::client::IncomingRequest;
use treenail_schema::{InputRequest, error_code};

use super::{Tap, lock};
use crate::calls::Unrelated;
use crate::event::{Event, Question};

/// Maximum number of requests of a server for one call that are not answered.
const MAX_OPEN_PER_CALL: usize = 32;

/// Request of a server that is not answered.
#[derive(Debug)]
pub(super) struct OpenRequest {
    /// The id of the call that it belongs to.
    call: i64,
    cancel: oneshot::Sender<()>,
}

impl Tap {
    /// Passes a request for the client to its call.
    pub(crate) fn on_request(&self, request: IncomingRequest<'_>) {
        let outcome = self.route(&request).and_then(|(id, call)| {
            let input = self.parse(&request)?;
            let cancelled = self.open(request.id, id)?;
            Ok((call, input, cancelled))
        });
        match outcome {
            Err(error) => request.responder.respond(Err(error)),
            Ok((call, input, cancelled)) => {
                let is_related = request.related_request.is_some();
                let question = Question::new(input, request.responder, is_related, cancelled);
                // A question that is not accepted is refused when it is dropped.
                drop(call.try_send(Event::Question(question)));
            }
        }
    }

    /// Notes an open request of the server for a call. Returns the receiver of its cancellation.
    fn open(&self, id: &str, call: i64) -> Result<oneshot::Receiver<()>, RpcError> {
        let mut open = lock(&self.open);
        open.retain(|_, request| !request.cancel.is_closed());
        if open.contains_key(id) {
            let error = "a request of the server with this id is open";
            return Err(RpcError::new(error_code::INVALID_REQUEST, error));
        }
        let of_call = open.values().filter(|request| request.call == call);
        if of_call.count() >= MAX_OPEN_PER_CALL {
            let error = "too many requests of the server for this call are open";
            return Err(RpcError::internal(error));
        }
        let (cancel, cancelled) = oneshot::channel();
        open.insert(id.into(), OpenRequest { call, cancel });
        Ok(cancelled)
    }

    /// Returns the call that a request belongs to, with its id.
    fn route(&self, request: &IncomingRequest<'_>) -> Result<(i64, mpsc::Sender<Event>), RpcError> {
        let call = match request.related_request {
            Some(id) => {
                let call = self.calls.by_id(id).ok_or(Unrelated::NoCall);
                call.map(|call| (id, call))
            }
            None => self.calls.only_client(),
        };
        call.map_err(|unrelated| {
            let reason = match unrelated {
                Unrelated::NoCall => "no call of a client is in flight that it could belong to",
                Unrelated::OtherRunning => {
                    "it may belong to a call of another client that is in flight; each modern request over HTTP without a principal counts as another client"
                }
                Unrelated::OtherEnded => {
                    "it may belong to a call of another client that ended less than a minute ago without an answer; each modern request over HTTP without a principal counts as another client"
                }
            };
            let (method, server) = (request.method, &self.server);
            if self.warnings.is_due() {
                tracing::warn!(method, %server, reason, "refused a request of a server");
            }
            RpcError::new(
                error_code::INVALID_REQUEST,
                format!("the proxy cannot pass on `{method}`: {reason}"),
            )
        })
    }

    fn parse(&self, request: &IncomingRequest<'_>) -> Result<InputRequest, RpcError> {
        let most = self.limits.question_bytes;
        if request.params.len() > most {
            return Err(RpcError::invalid_params(format!(
                "the parameters are larger than {most} bytes, the maximum of this proxy"
            )));
        }
        let method = serde_json::Value::from(request.method);
        let text = format!(r#"{{"method":{method},"params":{}}}"#, request.params);
        serde_json::from_str(&text).map_err(|error| RpcError::invalid_params(error.to_string()))
    }

    pub(super) fn on_cancelled(&self, params: &str) {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            request_id: &'a RawValue,
        }
        if let Ok(cancelled) = serde_json::from_str::<Cancelled<'_>>(params) {
            if let Some(open) = lock(&self.open).remove(cancelled.request_id.get()) {
                // The question may have been answered.
                let _ = open.cancel.send(());
            }
        }
    }
}
