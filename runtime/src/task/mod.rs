//! Calls of tools that become tasks: the interface between the runtime, which runs functions, and the crate `treenail-tasks`,
//! which stores tasks and serves their methods.

mod detach;
mod journal;
mod key;
mod stored;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::value::RawValue;
use treenail_schema::{InputRequest, Number, TaskSupport, Tool as Descriptor};

pub use self::detach::{CallFacts, DetachableCall, DetachedRun};
pub use self::journal::{Journal, RecordedAnswer};
pub use self::key::TaskKey;
pub use self::stored::{StoredCall, write_created};
use crate::ask::AskError;
use crate::extension::Extension;
use crate::handler::Handler;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

/// Future that a link returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Task support of one tool.
pub trait TaskTool: Debug + Send + Sync + 'static {
    /// Returns the value of `execution.taskSupport` in lists of tools of revision 2025-11-25.
    fn support(&self) -> TaskSupport;

    /// Returns the extension that serves the tasks. The builder of a server adds it, unless it has one with the same identifier.
    fn extension(&self) -> Extension;

    /// Wraps the handler of the tool, outside of its policy. A call that [`resume`](crate::internal::task::resume) starts passes
    /// the wrapper by.
    fn wrap(&self, tool: &ToolFacts, handler: Handler) -> Handler;
}

/// Properties of a tool that its task support needs.
#[derive(Clone, Debug)]
pub struct ToolFacts {
    /// The name, as peers write it.
    pub name: Arc<str>,
    /// Set if the tool does not modify its environment.
    pub read_only: bool,
    /// Set if repeated calls with the same arguments have no additional effect.
    pub idempotent: bool,
    /// Shape of the output.
    pub(crate) shape: Shape,
}

impl ToolFacts {
    pub(crate) fn new(descriptor: &Descriptor) -> Self {
        let hints = descriptor.annotations.as_ref();
        let output = descriptor.output_schema.as_ref();
        Self {
            name: descriptor.name.as_str().into(),
            read_only: hints.and_then(|hints| hints.read_only_hint) == Some(true),
            idempotent: hints.and_then(|hints| hints.idempotent_hint) == Some(true),
            shape: output.map_or(Shape::Any, |schema| Shape::of_members(schema)),
        }
    }
}

/// Declares the task support of a tool. Only lists of revision 2025-11-25 contain it.
pub(crate) fn declare_task(descriptor: &mut Descriptor, task: Option<&Arc<dyn TaskTool>>) {
    if let Some(task) = task {
        let execution = descriptor.execution.get_or_insert_default();
        execution.task_support = Some(task.support());
    }
}

/// Connection of a call that has become a task with its record, in place of its client.
pub trait TaskLink: Debug + Send + Sync + 'static {
    /// Asks the client. The future may be dropped, which withdraws the question.
    fn ask(
        self: Arc<Self>,
        question: TaskQuestion,
    ) -> BoxFuture<'static, Result<Box<RawValue>, AskError>>;

    /// Reports progress. Must not block.
    fn progress(&self, done: &Number, total: Option<&Number>, message: Option<&str>);

    /// Returns the state of the work `key`.
    fn once(&self, key: &str) -> OnceState;

    /// Records that the work `key` begins. The record is durable when the future resolves.
    fn begin(self: Arc<Self>, key: String) -> BoxFuture<'static, Result<(), RpcError>>;

    /// Removes the record of work that has begun and failed, so that it may run again.
    fn release(self: Arc<Self>, key: String) -> BoxFuture<'static, Result<(), RpcError>>;

    /// Returns the token with which another program ends the task, if the task is external.
    fn token(&self) -> Option<String> {
        None
    }

    /// Records the value of the work `key`, durable when the future resolves. The first value of a key stays:
    /// [`TaskLink::once`] returns it from then on.
    fn keep(
        self: Arc<Self>,
        key: String,
        value: Box<RawValue>,
    ) -> BoxFuture<'static, Result<(), RpcError>>;
}

/// Question of a task to its client.
#[derive(Debug)]
pub struct TaskQuestion {
    /// The key that the function has set, or one with the number of the question in this run. Unique in this run, and the same
    /// in each run of a deterministic function. The protocol needs another one that is never used again.
    pub key: String,
    /// Digest of the question. An answer counts only for the question with the same digest, see [`Journal::answers`].
    pub id: String,
    /// The request for the client.
    pub request: InputRequest,
}

/// State of work that must run once, see [`Context::once`](crate::Context::once).
#[derive(Clone, Debug)]
pub enum OnceState {
    /// It may run: it has not begun, or it has failed, or it is safe to repeat.
    Absent,
    /// An earlier run of the function has begun it, has not recorded a value, and it is not safe to repeat.
    Begun,
    /// It has this value.
    Done(Box<RawValue>),
}
