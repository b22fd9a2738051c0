//! Task support of one tool, as the attribute `task` sets it.

use std::sync::Arc;
use std::time::Duration;

use treenail_runtime::Extension;
use treenail_runtime::internal::task::{Handler, TaskTool, ToolFacts};
use treenail_schema::TaskSupport;

use crate::limits::TaskLimits;
use crate::record::Policy;
use crate::start::Wrapped;
use crate::tasks::Tasks;

/// Task support of a tool: the value of the attribute `task` of `#[mcp_tool]`, and of `dynamic::Tool::task`.
///
/// By default, a call that is not ready after half a second becomes a task if its client knows tasks. Durations that are not set
/// are those of [`TaskLimits`].
///
/// ```
/// use std::time::Duration;
/// use treenail::tasks::ToolTask;
///
/// let task = ToolTask::new().always().keep(Duration::from_secs(86_400));
/// # let _ = task;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "the support is for a tool"]
pub struct ToolTask {
    pub(crate) after: Option<Duration>,
    keep: Option<Duration>,
    run_time: Option<Duration>,
    pub(crate) required: bool,
    pub(crate) external: bool,
    resume: bool,
}

impl ToolTask {
    /// Creates the default support.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes each call a task from its start, as `task(always)` does. All its questions are those of the task.
    pub fn always(self) -> Self {
        self.after(Duration::ZERO)
    }

    /// Sets the time that a call may take before it becomes a task. Default: [`TaskLimits::after`].
    pub fn after(mut self, after: Duration) -> Self {
        self.after = Some(after);
        self
    }

    /// Refuses clients that do not know tasks, as `task(required)` does: with -32021, or with -32601 in revision 2025-11-25.
    /// Clients of older revisions, which have no tasks, are served as usual.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Runs an interrupted task again, as `task(resume)` does: the function is safe to run again from its start. Tools that are
    /// `read_only` or `idempotent` run again in any case.
    pub fn resume(mut self) -> Self {
        self.resume = true;
        self
    }

    /// Leaves the completion to a token, as `task(external)` does, see [`task_token`](crate::task_token). Implies
    /// [`required`](Self::required), for clients of all revisions.
    pub fn external(mut self) -> Self {
        self.external = true;
        self
    }

    /// Sets the time that a finished task remains readable. Default: [`TaskLimits::keep`].
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = Some(keep);
        self
    }

    /// Sets the maximum run time of a task. Default: [`TaskLimits::run_time`].
    pub fn run_time(mut self, run_time: Duration) -> Self {
        self.run_time = Some(run_time);
        self
    }

    /// Returns `true` if each call is a task from its start.
    pub(crate) fn is_always(&self) -> bool {
        self.after == Some(Duration::ZERO)
    }

    /// Returns the settings for a record of the tool.
    pub(crate) fn policy(&self, tool: &ToolFacts, limits: &TaskLimits) -> Policy {
        let run_time = self.run_time.unwrap_or(limits.run_time);
        let keep = self.keep.unwrap_or(limits.keep);
        let mut policy = Policy::new(run_time, keep, limits.poll_interval);
        policy.repeatable = tool.read_only || tool.idempotent;
        policy.resumable = policy.repeatable || self.resume;
        policy.external = self.external;
        policy
    }
}

impl TaskTool for ToolTask {
    fn support(&self) -> TaskSupport {
        if self.required || self.external {
            TaskSupport::Required
        } else {
            TaskSupport::Optional
        }
    }

    fn extension(&self) -> Extension {
        Tasks::new().into()
    }

    fn wrap(&self, tool: &ToolFacts, handler: Handler) -> Handler {
        let wrapped = Arc::new(Wrapped {
            options: self.clone(),
            tool: tool.clone(),
            handler: Arc::new(handler),
        });
        Box::new(move |call, result| wrapped.start(call, result))
    }
}
