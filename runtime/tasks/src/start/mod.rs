//! Start of a call of a tool with task support: it remains a plain call, or becomes a task.

mod creation;
mod waiting;

use std::sync::Arc;

use serde::Deserialize;
use treenail_runtime::RpcError;
use treenail_runtime::internal::extension::{require_declared, state};
use treenail_runtime::internal::task::{
    Call, CallFacts, DetachableCall, Handler, PendingResult, ResultWriter, ToolFacts,
};
use treenail_schema::{Revision, error_code};

use self::creation::NewTask;
use self::waiting::{Detached, TaskForm, Waiting};
use crate::engine::Engine;
use crate::options::ToolTask;
use crate::tasks::ID;

/// Handler of a tool, with its task support.
pub(crate) struct Wrapped {
    pub(crate) options: ToolTask,
    pub(crate) tool: ToolFacts,
    pub(crate) handler: Arc<Handler>,
}

/// Ways to serve a call.
enum Mode {
    /// As a plain call, whose result is that of the request.
    Plain,
    /// As a plain call that may become a task.
    After,
    /// As a task from its start. The lifetime is the one that a client of 2025-11-25 wishes.
    Task(Option<u64>),
}

impl Wrapped {
    /// Starts a call.
    pub(crate) fn start(
        &self,
        call: &Call<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Result<Option<PendingResult>, RpcError> {
        let facts = CallFacts::of(call);
        let Some(engine) = state::<Arc<Engine>>(facts.server) else {
            return (self.handler)(call, result);
        };
        let mode = self.mode(&facts)?;
        if matches!(mode, Mode::Plain) {
            return (self.handler)(call, result);
        }
        engine.start(facts.server);
        let detachable = DetachableCall::new(call, &self.tool);
        let mut task = NewTask {
            server: facts.server.clone(),
            engine: Arc::clone(engine),
            owner: facts.principal.unwrap_or_default().into(),
            policy: self.options.policy(&self.tool, &engine.limits),
        };
        if let Mode::Task(ttl) = mode {
            task.wish(ttl);
            let form = if !facts.revision.is_modern() {
                TaskForm::Older
            } else if self.options.external {
                TaskForm::External
            } else {
                TaskForm::Modern
            };
            let handler = Arc::clone(&self.handler);
            let started = Detached::start(task, detachable, handler, form);
            return Ok(Some(PendingResult::new(Box::pin(started))));
        }
        // Most calls are ready at once, and cost no timer.
        let Some(pending) = (self.handler)(&detachable.call(), result)? else {
            return Ok(None);
        };
        let after = self.options.after.unwrap_or(engine.limits.after);
        let waiting = Waiting::new(task, detachable, pending, after);
        Ok(Some(PendingResult::new(Box::pin(waiting))))
    }

    /// Decides how to serve a call, or refuses it.
    fn mode(&self, facts: &CallFacts<'_>) -> Result<Mode, RpcError> {
        let required = self.options.required || self.options.external;
        if facts.revision.is_modern() {
            return match require_declared(facts.capabilities, ID) {
                Ok(()) if self.options.external || self.options.is_always() => Ok(Mode::Task(None)),
                Ok(()) => Ok(Mode::After),
                Err(error) if required => Err(error),
                Err(_) => Ok(Mode::Plain),
            };
        }
        if facts.revision == Revision::V2025_11_25 {
            if let Some(wish) = facts.requested_task()? {
                return read_wish(wish).map(Mode::Task);
            }
        }
        let served =
            !required || (facts.revision < Revision::V2025_11_25 && !self.options.external);
        if served {
            return Ok(Mode::Plain);
        }
        let tool = &self.tool.name;
        let revision = facts.revision;
        let message = if revision < Revision::V2025_11_25 {
            format!("the tool `{tool}` runs as a task only, and revision {revision} has no tasks")
        } else {
            format!("the tool `{tool}` runs as a task only; call it with `params.task`")
        };
        Err(RpcError::new(error_code::METHOD_NOT_FOUND, message))
    }
}

/// Reads the member `task` of a call.
fn read_wish(text: &str) -> Result<Option<u64>, RpcError> {
    #[derive(Deserialize)]
    struct Wish {
        #[serde(default)]
        ttl: Option<f64>,
    }

    let wish = serde_json::from_str::<Wish>(text).ok();
    let wish = wish.filter(|_| text.starts_with('{'));
    let Some(Wish { ttl }) = wish else {
        return Err(RpcError::invalid_params(
            "`params.task` is not an object with an optional number `ttl`",
        ));
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates"
    )]
    Ok(ttl.map(|ttl| ttl as u64))
}
