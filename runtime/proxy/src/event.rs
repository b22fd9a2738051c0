//! Messages of a server during one call.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

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
    /// Set if the server names the call of the request.
    pub(crate) is_related: bool,
    /// Receiver of the cancellation; `None` once it has arrived, or cannot arrive any more.
    cancelled: Option<oneshot::Receiver<()>>,
    is_cancelled: bool,
}

impl Question {
    /// Creates a question. `cancelled` becomes ready when the server cancels its request.
    pub(crate) fn new(
        request: InputRequest,
        responder: Responder,
        is_related: bool,
        cancelled: oneshot::Receiver<()>,
    ) -> Self {
        Self {
            request: Box::new(request),
            responder: Some(responder),
            is_related,
            cancelled: Some(cancelled),
            is_cancelled: false,
        }
    }

    /// Answers the server.
    pub(crate) fn respond(mut self, answer: Result<String, RpcError>) {
        if let Some(responder) = self.responder.take() {
            responder.respond(answer);
        }
    }

    /// Polls for the cancellation of the request by its server. Without one, it is pending.
    pub(crate) fn poll_cancelled(&mut self, task: &mut TaskContext<'_>) -> Poll<()> {
        if let Some(cancelled) = &mut self.cancelled {
            if let Poll::Ready(received) = Pin::new(cancelled).poll(task) {
                self.is_cancelled = received.is_ok();
                self.cancelled = None;
            }
        }
        if self.is_cancelled {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
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
