//! Rules for the key `task` of a tool.

use crate::diag::Sink;
use crate::tool::model::task::Task;
use crate::tool::model::{Feature, Mode};

/// At most one key decides about the time at which a call becomes a task.
pub(super) fn one_start(feature: &Feature, sink: &mut Sink) {
    let Some(task) = task(feature) else { return };
    let at_once = task.always.as_ref().or(task.external.as_ref());
    if let (Some(at_once), Some(after)) = (at_once, &task.after) {
        let message = format!("with `{at_once}`, a call does not wait; remove `after`");
        sink.error(&after.key, message);
    }
}

/// Each call of an external task is one, so keys that decide about that have no meaning.
pub(super) fn external_is_always_required(feature: &Feature, sink: &mut Sink) {
    let Some(task) = task(feature).filter(|task| task.external.is_some()) else {
        return;
    };
    for key in [&task.always, &task.required].into_iter().flatten() {
        let message = format!("each call of an `external` task is one; remove `{key}`");
        sink.error(key, message);
    }
}

/// A call does not wait longer than it may run.
pub(super) fn waits_less_than_it_runs(feature: &Feature, sink: &mut Sink) {
    let Some(task) = task(feature) else { return };
    if let (Some(after), Some(run_time)) = (&task.after, &task.run_time) {
        if after.ms >= run_time.ms {
            let run_time = run_time.text.value();
            let message = format!("a call may run for {run_time} only; write a shorter `after`");
            sink.error(&after.text, message);
        }
    }
}

/// A task is `async` or `blocking` or returns a stream, since any other function blocks its caller until it returns.
pub(super) fn can_be_detached(feature: &Feature, sink: &mut Sink) {
    let Some(task) = task(feature).filter(|task| task.external.is_none()) else {
        return;
    };
    if Mode::of(feature) == Mode::Synchronous {
        sink.error(
            &task.key,
            "this function cannot continue in the background; make it `async`, or `blocking`",
        );
    }
}

fn task(feature: &Feature) -> Option<&Task> {
    feature.tool()?.task.as_ref()
}
