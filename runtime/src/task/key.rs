//! Keys of `task(…)`, as the macro writes them.

/// Key of `task(…)`. Lengths of time are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKey {
    /// Each call becomes a task that is not ready at once.
    Always,
    /// Clients without support for tasks get an error.
    Required,
    /// Another program ends the task.
    External,
    /// The function may run again after a crash.
    Resume,
    /// Time after which a call becomes a task.
    After(u64),
    /// Time for which the result is readable after the end of the task.
    Keep(u64),
    /// Maximum run time.
    RunTime(u64),
}
