//! Connection of a call that has become a task with its record.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::value::RawValue;
use treenail_schema::{InputRequest, Number};

use crate::ask::AskError;
use crate::wire::RpcError;

/// Future that a link returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

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

    /// Returns `true` if the record could not be stored, and the call continues as a plain one. Its messages go to its client again.
    fn is_plain(&self) -> bool {
        false
    }

    /// Returns `true` if the function has begun in an earlier run of the task.
    fn runs_again(&self) -> bool {
        false
    }

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
    /// Digest of the question. An answer counts only for the question with the same digest, see [`Journal::answers`](super::Journal::answers).
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
