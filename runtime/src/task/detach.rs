//! Calls that can be detached from their request while they run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use serde_json::value::RawValue;
use treenail_schema::{ClientCapabilities, Revision};

use crate::call::{Call, CallState, OwnedCall};
use crate::context::Context;
use crate::handler::{Handler, PendingResult};
use crate::panic::{catch, unexpected};
use crate::result_writer::ResultWriter;
use crate::server::Server;
use crate::task::{Journal, StoredCall, TaskLink, ToolFacts};
use crate::wire::{Params, RpcError};

/// Properties of a call that decide about its task.
#[derive(Clone, Copy, Debug)]
pub struct CallFacts<'a> {
    /// The server.
    pub server: &'a Server,
    /// The revision of the client.
    pub revision: Revision,
    /// The capabilities that the client has declared for this call.
    pub capabilities: &'a ClientCapabilities,
    /// The principal of the caller, if its transport has authenticated it. Layers do not see the methods of tasks, so a principal
    /// of a layer could never read its task.
    pub principal: Option<&'a str>,
    params: Option<&'a str>,
}

impl<'a> CallFacts<'a> {
    /// Reads the properties of a call.
    pub fn of(call: &Call<'a>) -> Self {
        Self {
            server: call.server,
            revision: call.peer.revision(),
            capabilities: call.peer.capabilities(),
            principal: call.target.principal,
            params: call.params,
        }
    }

    /// Returns the JSON text of `params.task`, with which a client of revision 2025-11-25 requests a task.
    ///
    /// # Errors
    ///
    /// The response to a request that has the member twice.
    pub fn requested_task(&self) -> Result<Option<&'a str>, RpcError> {
        let params = Params::of_text(self.params);
        params.member("task")
    }
}

/// Call that can be detached from its request while it runs.
///
/// Its function ends when the future of the function is dropped; `Context::finished` fires then.
pub struct DetachableCall {
    call: OwnedCall,
    tool: ToolFacts,
    state: Arc<CallState>,
}

impl fmt::Debug for DetachableCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DetachableCall")
            .field("tool", &self.tool.name)
            .finish_non_exhaustive()
    }
}

impl DetachableCall {
    /// Makes a detachable copy of a call. The function must get [`DetachableCall::call`].
    pub fn new(call: &Call<'_>, tool: &ToolFacts) -> Self {
        let context = Context::new(CallState::detachable(call), call.extensions.clone());
        Self {
            state: Arc::clone(context.state()),
            call: OwnedCall::new(call).with_context(context),
            tool: tool.clone(),
        }
    }

    /// Returns the call for the inner handler.
    pub fn call(&self) -> Call<'_> {
        self.call.borrow(None)
    }

    /// Returns the server.
    pub fn server(&self) -> &Server {
        &self.call.server
    }

    /// Returns the part of the call that [`resume`](crate::internal::task::resume) needs to run it again.
    #[inline]
    pub fn stored(&self) -> StoredCall {
        StoredCall::new(&self.call, &self.tool)
    }

    /// Returns the values that the call has obtained so far.
    #[inline]
    pub fn journal(&self) -> Journal {
        self.state.journal()
    }

    /// Detaches the call: its context uses the link from now on, and sends nothing to the client. `link` gets the values that the
    /// call has obtained so far. The context is linked at most once; a second call changes nothing.
    #[inline]
    pub fn detach(&self, link: impl FnOnce(Journal) -> Arc<dyn TaskLink>) {
        self.state.detach(link);
    }

    /// Returns the rest of the call, whose function is pending.
    pub fn run(self, pending: PendingResult) -> DetachedRun {
        DetachedRun {
            stage: Stage::Pending(pending),
            call: self,
        }
    }

    /// Returns the whole call, which starts at the first poll.
    pub fn start(self, handler: impl Into<Arc<Handler>>) -> DetachedRun {
        let handler = handler.into();
        self.start_with(move |call, result| handler(call, result))
    }

    pub(crate) fn start_with(
        self,
        start: impl FnOnce(&Call<'_>, &mut ResultWriter<'_>) -> Started + Send + 'static,
    ) -> DetachedRun {
        DetachedRun {
            stage: Stage::New(Box::new(start)),
            call: self,
        }
    }
}

/// Outcome of the start of a function: a pending result, or `None` if the result has been written.
type Started = Result<Option<PendingResult>, RpcError>;

/// Run of a detached call. Its output is the text of its result, for [`ResultShape::write`](crate::internal::task::ResultShape::write), or the JSON-RPC error of the call.
///
/// Dropping it ends the function.
#[must_use = "a function makes progress only while its run is polled"]
pub struct DetachedRun {
    // Dropped before the call, so that the context outlives the function.
    stage: Stage,
    call: DetachableCall,
}

type Start = Box<dyn FnOnce(&Call<'_>, &mut ResultWriter<'_>) -> Started + Send>;

enum Stage {
    New(Start),
    Pending(PendingResult),
    Finished,
}

impl fmt::Debug for DetachedRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DetachedRun")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

impl DetachedRun {
    fn poll_text(
        &mut self,
        context: &mut TaskContext<'_>,
        out: &mut Vec<u8>,
    ) -> Poll<Result<(), RpcError>> {
        let call = &self.call.call;
        let style = call.server.style(call.peer.revision()).to_bare();
        let mut result = ResultWriter::new(out, &style);
        if let Stage::New(_) = &self.stage {
            let Stage::New(start) = std::mem::replace(&mut self.stage, Stage::Finished) else {
                return Poll::Ready(Ok(()));
            };
            match start(&self.call.call(), &mut result)? {
                Some(pending) => self.stage = Stage::Pending(pending),
                None => return Poll::Ready(Ok(())),
            }
        }
        match &mut self.stage {
            Stage::Pending(pending) => pending.poll_result(context, &mut result),
            Stage::New(_) | Stage::Finished => Poll::Pending,
        }
    }
}

impl Future for DetachedRun {
    type Output = Result<Box<RawValue>, RpcError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let mut out = Vec::new();
        let polled = catch(|| self.poll_text(context, &mut out));
        let written = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(written)) => written,
            Err(message) => Err(RpcError::internal(unexpected(
                "tool",
                &self.call.tool.name,
                &message,
            ))),
        };
        self.stage = Stage::Finished;
        Poll::Ready(written.and_then(|()| {
            let text = String::from_utf8(out).unwrap_or_default();
            RawValue::from_string(text)
                .map_err(|_| RpcError::internal("the result of the tool is not valid JSON"))
        }))
    }
}
