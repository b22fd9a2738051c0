//! Calls of tools that become tasks: the interface between the runtime, which runs functions, and the crate `treenail-tasks`,
//! which stores tasks and serves their methods.

mod detach;
mod journal;
mod key;
mod link;
mod stored;
mod support;

pub use self::detach::{CallFacts, DetachableCall, DetachedRun};
pub use self::journal::{Journal, RecordedAnswer};
pub use self::key::TaskKey;
pub use self::link::{BoxFuture, OnceState, TaskLink, TaskQuestion};
pub use self::stored::{ResultShape, StoredCall, write_created};
pub(crate) use self::support::declare_task;
pub use self::support::{TaskTool, ToolFacts};
