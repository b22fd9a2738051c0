//! Options of the key `task` of a tool.

use std::time::Duration;

/// Options of the key `task` of a tool, as the macro writes them. Lengths of time are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOptions {
    /// The time at which a call becomes a task.
    pub start: TaskStart,
    /// Set if the function may run again from its start after a crash, although it is neither read-only nor idempotent.
    pub resume: bool,
    /// Time for which the result is readable after the end of the task.
    pub keep: Option<Duration>,
    /// Maximum run time.
    pub max: Option<Duration>,
}

/// Time at which a call becomes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStart {
    /// When its function has run for this time, if the client supports tasks; `None` for the default of the server.
    After(Option<Duration>),
    /// At once, if the client supports tasks.
    Always,
    /// At once. Clients without support for tasks get an error.
    Required,
    /// At once, like `Required`. Another program ends the task, with its token.
    External,
}

impl Default for TaskStart {
    fn default() -> Self {
        Self::After(None)
    }
}

impl TaskOptions {
    /// Creates the options of `task` without details.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the start to [`TaskStart::Always`].
    #[must_use]
    pub fn always(mut self) -> Self {
        self.start = TaskStart::Always;
        self
    }

    /// Sets the start to [`TaskStart::Required`].
    #[must_use]
    pub fn required(mut self) -> Self {
        self.start = TaskStart::Required;
        self
    }

    /// Sets the start to [`TaskStart::External`].
    #[must_use]
    pub fn external(mut self) -> Self {
        self.start = TaskStart::External;
        self
    }

    /// Allows the function to run again.
    #[must_use]
    pub fn resume(mut self) -> Self {
        self.resume = true;
        self
    }

    /// Sets the start to [`TaskStart::After`].
    #[must_use]
    pub fn after(mut self, ms: u64) -> Self {
        self.start = TaskStart::After(Some(Duration::from_millis(ms)));
        self
    }

    /// Sets the time for which the result is readable.
    #[must_use]
    pub fn keep(mut self, ms: u64) -> Self {
        self.keep = Some(Duration::from_millis(ms));
        self
    }

    /// Sets the maximum run time.
    #[must_use]
    pub fn max(mut self, ms: u64) -> Self {
        self.max = Some(Duration::from_millis(ms));
        self
    }
}
