//! Names that the crates of Treenail above this one use. Not for use elsewhere; they may change in any release.

#[cfg(feature = "client")]
mod client;
pub mod extension;
mod http_server;

#[cfg(feature = "client")]
pub use self::client::*;
pub use self::http_server::*;
pub use crate::ask::{Round, check_conversation, needs_tools};
use crate::context::Context;
pub use crate::function::argument_error::{Fault, MAX_REPORTED, Problem, format_problems};
#[cfg(feature = "schema-validation")]
pub use crate::function::violations::to_problems;
#[cfg(any(feature = "client", feature = "http-server"))]
pub use crate::log_throttle::LogThrottle;
pub use crate::retry::{Backoff, jitter};
use crate::server::{Connection, Server};
pub use crate::wire::{
    Body, DEEPEST, Envelope, Frame, Invalid, LineBuffer, Members, Message, Params, ParseLimits,
    SyntaxError, as_string, parse, parse_element,
};

/// Calls of tools that become tasks.
pub mod task {
    use std::sync::Arc;

    pub use crate::ask::ask_client;
    use crate::ask::{NO_RANDOM_BYTES, RequestStateKey};
    pub use crate::call::Call;
    use crate::context::Context;
    pub use crate::handler::{Handler, PendingResult, ResultFuture};
    pub use crate::result_writer::ResultWriter;
    pub use crate::server::resume;
    pub use crate::task::{
        BoxFuture, CallFacts, DetachableCall, DetachedRun, Journal, OnceState, RecordedAnswer,
        StoredCall, TaskKey, TaskLink, TaskQuestion, TaskTool, ToolFacts, write_created,
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

    /// Returns the record of the task that a call has become.
    pub fn link(context: &Context) -> Option<&Arc<dyn TaskLink>> {
        context.state().link()
    }
}

/// Deadlines that cannot overflow.
pub mod deadline {
    pub use crate::deadline::{NEVER, after, from};
}

/// Returns the round of questions of a call, if it may have several.
pub fn round(context: &Context) -> Option<&Round> {
    context.state().round()
}

/// Opens a connection to a server, for one session.
pub fn connect_once(server: &Server) -> Connection {
    server.connect().for_one_session()
}
