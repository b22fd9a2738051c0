//! Link between the function of a task and its record.

use std::sync::Arc;

use serde_json::value::RawValue;
use treenail_runtime::internal::task::{BoxFuture, OnceState, TaskLink, TaskQuestion};
use treenail_runtime::{AskError, RpcError};
use treenail_schema::Number;

use super::{Creation, Run};
use crate::engine::Engine;
use crate::external::seal_token;
use crate::record::{Record, shorten};

impl TaskLink for Run {
    fn ask(
        self: Arc<Self>,
        question: TaskQuestion,
    ) -> BoxFuture<'static, Result<Box<RawValue>, AskError>> {
        Box::pin(self.ask_client(question))
    }

    fn progress(&self, done: &Number, total: Option<&Number>, message: Option<&str>) {
        let text = match (message, total) {
            (Some(message), _) => message.to_owned(),
            (None, Some(total)) => format!("{} of {}", done.as_f64(), total.as_f64()),
            (None, None) => return,
        };
        let text = shorten(&text, self.engine.limits.message_chars);
        self.pending().message = Some(text);
        self.wake.notify_one();
    }

    fn once(&self, key: &str) -> OnceState {
        let record = self.record();
        if let Some(value) = record.journal.once.get(key) {
            return OnceState::Done(value.clone());
        }
        if self.begun_before.contains(key) {
            OnceState::Begun
        } else {
            OnceState::Absent
        }
    }

    fn begin(self: Arc<Self>, key: String) -> BoxFuture<'static, Result<(), RpcError>> {
        Box::pin(async move {
            let engine = Arc::clone(&self.engine);
            let edit = move |record: &mut Record| {
                if !record.journal.begun.insert(key.clone()) {
                    return Ok(false);
                }
                check_journal(record, &engine)?;
                Ok(true)
            };
            self.record_change(edit).await
        })
    }

    fn release(self: Arc<Self>, key: String) -> BoxFuture<'static, Result<(), RpcError>> {
        Box::pin(async move {
            let edit = move |record: &mut Record| Ok(record.journal.begun.remove(&key));
            self.record_change(edit).await
        })
    }

    fn keep(
        self: Arc<Self>,
        key: String,
        value: Box<RawValue>,
    ) -> BoxFuture<'static, Result<(), RpcError>> {
        Box::pin(async move {
            let engine = Arc::clone(&self.engine);
            let edit = move |record: &mut Record| {
                if record.journal.once.contains_key(&key) {
                    return Ok(false);
                }
                record.journal.begun.remove(&key);
                record.journal.once.insert(key.clone(), value.clone());
                check_journal(record, &engine)?;
                Ok(true)
            };
            self.record_change(edit).await
        })
    }

    fn is_plain(&self) -> bool {
        *self.creation.borrow() == Creation::Plain
    }

    fn runs_again(&self) -> bool {
        self.record().attempts > 1
    }

    fn token(&self) -> Option<String> {
        let external = self.record().policy.external;
        let key = self.engine.key.as_ref().filter(|_| external)?;
        seal_token(key, &self.key).ok()
    }
}

/// Checks the size of a changed journal.
pub(super) fn check_journal(record: &Record, engine: &Engine) -> Result<(), RpcError> {
    let most = engine.limits.journal_bytes;
    if record.journal_bytes() <= most {
        return Ok(());
    }
    if engine.journal_full.is_due() {
        tracing::error!(most, "the journal of a task is full");
    }
    Err(RpcError::internal(format!(
        "the questions, answers and `once` values of the task take more than {most} bytes"
    )))
}
