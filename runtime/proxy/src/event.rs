//! Messages of a server during one call.

use std::fmt;

use tokio::sync::oneshot;
use treenail_runtime::RpcError;
use treenail_runtime::client::Responder;
use treenail_schema::{InputRequest, LoggingMessageNotificationParams, ProgressNotificationParams};

/// Message of a server during one call.
#[derive(Debug)]
pub(crate) enum Event {
    Progress(ProgressNotificationParams),
    Log(LoggingMessageNotificationParams),
    Question(Question),
}

/// Request of a server of the legacy era for its client. Dropping it refuses the request.
pub(crate) struct Question {
    pub(crate) request: Box<InputRequest>,
    responder: Option<Responder>,
    cancelled: oneshot::Receiver<()>,
}

impl Question {
    /// Creates a question. `cancelled` becomes ready when the server cancels its request.
    pub(crate) fn new(
        request: InputRequest,
        responder: Responder,
        cancelled: oneshot::Receiver<()>,
    ) -> Self {
        Self {
            request: Box::new(request),
            responder: Some(responder),
            cancelled,
        }
    }

    /// Answers the server.
    pub(crate) fn respond(mut self, answer: Result<String, RpcError>) {
        if let Some(responder) = self.responder.take() {
            responder.respond(answer);
        }
    }

    /// Takes the receiver of the cancellation.
    pub(crate) fn take_cancelled(&mut self) -> oneshot::Receiver<()> {
        let (_, closed) = oneshot::channel();
        std::mem::replace(&mut self.cancelled, closed)
    }

    /// Sends no answer, because the server has cancelled its request.
    pub(crate) fn discard(mut self) {
        if let Some(responder) = self.responder.take() {
            responder.discard();
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(responder) = self.responder.take() {
            let error = RpcError::internal("the call that the request belongs to has ended");
            responder.respond(Err(error));
        }
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Question")
            .field("method", &self.request.method())
            .finish_non_exhaustive()
    }
}
