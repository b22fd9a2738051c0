//! Names that the crates of Treenail above this one use. Not for use elsewhere; they may change in any release.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod client_tasks;
pub mod extension;
mod http_server;
#[cfg(feature = "resource-sources")]
pub mod resource_source;

use std::sync::Arc;

pub use schemars::JsonSchema;
use serde_json::value::RawValue;
use treenail_schema::LoggingMessageNotificationParams;
#[cfg(feature = "client")]
use treenail_schema::ProgressNotificationParams;

#[cfg(feature = "client")]
pub use self::client::*;
#[cfg(feature = "client")]
pub use self::client_tasks::*;
pub use self::http_server::*;
pub use crate::ask::{check_conversation, needs_tools};
use crate::context::Context;
#[cfg(feature = "sim")]
pub use crate::environment::simulated;
pub use crate::environment::{NoRandomBytes, fill_random, spawn_lasting, system_time};
pub use crate::function::argument_error::{Fault, MAX_REPORTED, Problem, format_problems};
pub use crate::function::submission::Submission;
#[cfg(feature = "schema-validation")]
pub use crate::function::violations::to_problems;
pub use crate::log_throttle::LogThrottle;
pub use crate::panic::catch as catch_panic;
pub use crate::retry::{Backoff, jitter};
pub use crate::server::oversized;
use crate::server::{Connection, Server};
use crate::task::OnceState;
pub use crate::wire::{
    Body, DEEPEST, Envelope, Frame, IdAtEnds, Invalid, LineBuffer, Members, Message, Params,
    ParseLimits, SyntaxError, as_string, copied_id, id_at_ends, is_heavier, is_one_line, parse,
    parse_element, write_json,
};

/// Calls of tools that become tasks.
pub mod task {
    use std::sync::Arc;

    use crate::ask::{NO_RANDOM_BYTES, RequestStateKey};
    pub use crate::ask::{SessionPeer, ask_client, for_client, random_id, session_number};
    pub use crate::call::Call;
    use crate::context::Context;
    pub use crate::handler::{Handler, PendingResult, ResultFuture};
    pub use crate::result_writer::ResultWriter;
    pub use crate::revision::without_retired_code;
    use crate::server::Server;
    pub use crate::task::{
        BoxFuture, CallFacts, DetachableCall, DetachedRun, Journal, OnceState, RecordedAnswer,
        ResultShape, StoredCall, TaskKey, TaskLink, TaskQuestion, TaskTool, ToolFacts,
        write_created,
    };
    use crate::wire::RpcError;

    /// Encrypts and authenticates `text`, for a purpose that no other value has.
    ///
    /// # Errors
    ///
    /// An internal error if the operating system provides no random bytes.
    pub fn seal(key: &RequestStateKey, purpose: &[u8], text: Vec<u8>) -> Result<String, RpcError> {
        let sealed = key.seal(purpose, text);
        sealed.map_err(|_| RpcError::internal(NO_RANDOM_BYTES))
    }

    /// Decrypts a text that [`seal`] has returned for the same key and purpose.
    pub fn open(key: &RequestStateKey, purpose: &[u8], sealed: &str) -> Option<Vec<u8>> {
        key.open(purpose, sealed).ok()
    }

    /// Runs the function of a stored call again, from its start, with `link` in place of its client. The function starts at the first
    /// poll, in the policy of its tool and without the wrapper of its task support.
    ///
    /// The call has the principal, the granted scopes, the capabilities and the metadata of its client. Other values of transports
    /// and layers, such as HTTP headers, are not stored.
    ///
    /// # Errors
    ///
    /// The tool does not exist any more, is disabled or hidden from the caller, or needs a scope that was not granted. The arguments
    /// are checked as those of any call: if the input schema of the tool has changed so that it does not accept them any more, the
    /// result of the run reports them.
    #[inline]
    pub fn resume(
        server: &Server,
        stored: &StoredCall,
        link: Arc<dyn TaskLink>,
    ) -> Result<DetachedRun, RpcError> {
        server.resume(stored, link)
    }

    /// Returns `true` if the tool of a stored call does not exist, but an edit of the server may add it.
    #[inline]
    pub fn may_add_tool(server: &Server, stored: &StoredCall) -> bool {
        server.may_add_tool(stored)
    }

    /// Returns the record of the task that a call has become.
    pub fn link(context: &Context) -> Option<&Arc<dyn TaskLink>> {
        context.state().link()
    }
}

/// Deadlines that cannot overflow.
pub mod deadline {
    pub use crate::deadline::{NEVER, after, from, poll_timer};
}

/// Reports the progress of another call, which works for this one, to the caller. The token is that of the caller.
#[cfg(feature = "client")]
#[inline]
pub async fn send_progress(context: &Context, params: ProgressNotificationParams) {
    let mut progress = context.progress(params.progress).meta(params.meta);
    if let Some(total) = params.total {
        progress = progress.total(total);
    }
    if let Some(message) = params.message {
        progress = progress.message(message);
    }
    progress.await;
}

/// Sends a log message to the client of a call, if its level is enabled.
#[inline]
pub async fn send_log(context: &Context, params: &LoggingMessageNotificationParams) {
    context.send_log(params).await;
}

/// Returns `true` if a call may have several rounds of questions.
pub fn has_rounds(context: &Context) -> bool {
    context.state().round().is_some()
}

/// Returns the number of questions of the function in this run, including answered ones.
#[inline]
pub fn asked(context: &Context) -> usize {
    let round = context.state().round();
    round.map_or(0, |round| round.asked(context.asker().level))
}

/// Returns a recorded value of a call that may run again. Layers and the function have keys of their own, as in [`Context::once`].
#[inline]
pub fn recall(context: &Context, key: &str) -> Option<Box<RawValue>> {
    let state = context.state();
    let asker = context.asker();
    let key = &*asker.level.key(key);
    match state.link().map(|link| link.once(key)) {
        Some(OnceState::Done(value)) => Some(value),
        // It may have been recorded before the call became a task.
        _ => state.round()?.done(asker, key),
    }
}

/// Records a value of a call that may run again. In a task, it is stored in the background.
#[inline]
pub fn record(context: &Context, key: &str, value: Box<RawValue>) {
    let asker = context.asker();
    let key = &*asker.level.key(key);
    let Err(link) = context
        .state()
        .record(|round| round.keep(asker, key, value.clone()))
    else {
        return;
    };
    let (link, key) = (Arc::clone(link), key.to_owned());
    // Without a runtime, the process ends.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            if let Err(error) = link.keep(key, value).await {
                tracing::warn!(%error, "a value of a task could not be stored");
            }
        });
    }
}

/// Returns `true` if the client of a call can sample with tools, in its revision.
pub fn takes_tools(context: &Context) -> bool {
    let peer = &context.state().peer;
    crate::ask::takes_tools(peer.revision(), peer.capabilities())
}

/// Opens a connection to a server, for one session.
pub fn connect_once(server: &Server) -> Connection {
    server.connect().for_one_session()
}
