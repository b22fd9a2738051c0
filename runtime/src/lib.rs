//! The runtime of Treenail: what the code that its macros write runs on.
//!
//! Use the crate `treenail`, which re-exports all of this. A reader finds here, from the bytes up: `wire` (messages),
//! `revision` (who is asking, and in which shape the answer goes out), `tool` (what a function declares), `server` (the
//! core, free of transport) and `transport` (lines over byte streams, and the standard streams).

mod call;
mod context;
mod error;
mod limits;
mod outbox;
#[doc(hidden)]
pub mod private;
mod respond;
mod revision;
mod server;
mod tool;
mod transport;
mod wire;

pub use treenail_schema as schema;

pub use self::call::{Call, FromCall};
pub use self::context::{Context, Progress};
pub use self::error::{Error, Result};
pub use self::limits::Limits;
pub use self::server::{Connection, PendingAnswer, Received, Server, ServerBuilder};
pub use self::tool::argument::{FromText, ToolArgument};
pub use self::tool::bounds::{Bounded, Measured};
pub use self::tool::error::ToolError;
pub use self::tool::output::ToolOutput;
pub use self::tool::reply::ToolReply;
pub use self::tool::{Mount, Tool, ToolDefinition, ToolSet};
pub use self::wire::RpcError;
