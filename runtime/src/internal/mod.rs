//! Names that the crates of Treenail above this one use. Not for use elsewhere; they may change in any release.

#[cfg(feature = "client")]
mod client;

#[cfg(feature = "client")]
pub use self::client::*;
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
    pub use crate::handler::{Handler, PendingResult, ResultFuture};
    pub use crate::result_writer::ResultWriter;
    pub use crate::server::resume;
    pub use crate::task::{
        BoxFuture, CallFacts, DetachableCall, DetachedRun, Journal, OnceState, RecordedAnswer,
        StoredCall, TaskLink, TaskQuestion, TaskTool, ToolFacts, write_created,
    };
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
