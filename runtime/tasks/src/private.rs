//! Items for the code that the macros generate. They are not part of the public API and may change in any release.

use std::time::Duration;

use treenail_runtime::internal::task::TaskKey;

use crate::options::ToolTask;

/// Makes the task support that the keys of `task(…)` describe.
pub fn task(keys: &[TaskKey]) -> ToolTask {
    keys.iter().fold(ToolTask::new(), |task, key| match *key {
        TaskKey::Always => task.always(),
        TaskKey::Required => task.required(),
        TaskKey::External => task.external(),
        TaskKey::Resume => task.resume(),
        TaskKey::After(ms) => task.after(Duration::from_millis(ms)),
        TaskKey::Keep(ms) => task.keep(Duration::from_millis(ms)),
        TaskKey::RunTime(ms) => task.run_time(Duration::from_millis(ms)),
    })
}
