//! An answer in the making: written in place, or later by a call that was not ready at once.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use treenail_schema::RequestId;

use crate::revision::Peer;
use crate::server::Server;
use crate::tool::BoundTool;
use crate::tool::error::ToolError;
use crate::tool::reply::ToolReply;
use crate::tool::run::Running;
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

/// A call of a tool that has not been answered yet.
pub(crate) struct PendingCall {
    server: Server,
    peer: Arc<Peer>,
    id: Box<str>,
    tool: usize,
    running: Running,
}

impl PendingCall {
    pub(crate) fn new(
        server: &Server,
        peer: &Arc<Peer>,
        id: &str,
        tool: usize,
        running: Running,
    ) -> Self {
        Self {
            server: server.clone(),
            peer: Arc::clone(peer),
            id: id.into(),
            tool,
            running,
        }
    }

    /// Goes on with the call; its whole answer is appended to `out` when it is ready, and nothing before.
    pub(crate) fn poll_answer(
        &mut self,
        context: &mut task::Context<'_>,
        out: &mut Vec<u8>,
    ) -> Poll<()> {
        let start = out.len();
        let style = self.server.style(self.peer.revision());
        let tool = self.server.shared.tools.get(self.tool);
        let mut ready = Poll::Pending;
        write_result(out, &self.id, |out| {
            let mut reply = ToolReply::new(out, style, tool.shape);
            ready = guarded(tool, &mut reply, |reply| {
                self.running.as_mut().poll_reply(context, reply)
            });
        });
        if ready.is_pending() {
            out.truncate(start);
        }
        ready
    }
}

/// Runs a part of a tool; if it panics, that becomes the reply.
pub(crate) fn guarded<T: PanicReply>(
    tool: &BoundTool,
    reply: &mut ToolReply<'_>,
    run: impl FnOnce(&mut ToolReply<'_>) -> T,
) -> T {
    let start = reply.mark();
    catch_unwind(AssertUnwindSafe(|| run(reply))).unwrap_or_else(|panic| {
        let name = &tool.descriptor.name;
        let message = panic_message(&*panic);
        tracing::error!(tool = %name, message, "a tool panicked");
        reply.rewind(start);
        reply.failure(ToolError::new(format!(
            "the tool `{name}` failed unexpectedly; this is a bug in the server"
        )));
        T::REPLIED
    })
}

/// What a part of a tool gives when its reply is written.
pub(crate) trait PanicReply {
    const REPLIED: Self;
}

impl PanicReply for Poll<()> {
    const REPLIED: Self = Self::Ready(());
}

impl PanicReply for Option<Running> {
    const REPLIED: Self = None;
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    match panic.downcast_ref::<&str>() {
        Some(message) => message,
        None => panic
            .downcast_ref::<String>()
            .map_or("(no message)", String::as_str),
    }
}

/// An answer that is not ready yet: a future of its bytes, without a line end.
///
/// Dropping it stops the calls that it waits for; nothing is sent for them.
#[must_use = "a call goes on only while it is polled"]
pub struct PendingAnswer {
    /// The id of the request, if it is a single one.
    id: Option<RequestId>,
    batch: bool,
    calls: Vec<PendingCall>,
    out: Vec<u8>,
}

impl fmt::Debug for PendingAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PendingAnswer")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl PendingAnswer {
    pub(crate) fn one(id: &str, call: PendingCall) -> Self {
        Self {
            id: serde_json::from_str(id).ok(),
            batch: false,
            calls: vec![call],
            out: Vec::new(),
        }
    }

    /// The answer to a batch; `out` has the answers that are ready, with a comma after each.
    pub(crate) fn batch(calls: Vec<PendingCall>, out: Vec<u8>) -> Self {
        Self {
            id: None,
            batch: true,
            calls,
            out,
        }
    }

    pub(crate) fn into_calls(self) -> Vec<PendingCall> {
        self.calls
    }

    /// The id of the request that this is the answer to; a batch has none.
    pub fn id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }
}

impl Future for PendingAnswer {
    type Output = Vec<u8>;

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Vec<u8>> {
        let Self {
            batch, calls, out, ..
        } = self.get_mut();
        calls.retain_mut(|call| {
            let ready = call.poll_answer(context, out).is_ready();
            if ready && *batch {
                out.push(b',');
            }
            !ready
        });
        if !calls.is_empty() {
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
