//! Events of a run, and their queue.

use std::collections::VecDeque;

use treenail_schema::{CallToolResult, ContentBlock, ProgressNotificationParams};

use crate::{ApprovalRequest, RequestedCall, StopReason, Usage};

/// Event of a run. [`Run`](crate::Run) is a stream of them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunEvent {
    /// Next chunk of the model's text. It never contains calls, even if the model writes them as text.
    Text(String),
    /// The model requests a call.
    CallRequested(RequestedCall),
    /// A call is waiting for [`Run::approve`](crate::Run::approve) or [`Run::deny`](crate::Run::deny). Other calls of the
    /// message run meanwhile, unless the model has a [`Journal`](crate::Journal): then they wait for all approvals.
    ApprovalRequested(Box<ApprovalRequest>),
    /// A call has started.
    #[non_exhaustive]
    CallStarted {
        /// Id of the call.
        id: String,
    },
    /// The server reports progress of a call.
    #[non_exhaustive]
    Progress {
        /// Id of the call.
        id: String,
        /// Progress notification of the server.
        progress: Box<ProgressNotificationParams>,
    },
    /// A call has finished, or was not run.
    #[non_exhaustive]
    CallFinished {
        /// Id of the call.
        id: String,
        /// True if the call failed or was not run.
        is_error: bool,
        /// Content that the model receives.
        content: Vec<ContentBlock>,
        /// Result of the tool, if it returned one.
        result: Option<Box<CallToolResult>>,
    },
    /// A call that ran as a task in the background has ended; see [`ToolLoop::background_tasks`](crate::ToolLoop::background_tasks).
    #[non_exhaustive]
    TaskFinished {
        /// Id of the call.
        id: String,
        /// Id of the task.
        task: String,
        /// True if the call failed.
        is_error: bool,
        /// Content that the model receives.
        content: Vec<ContentBlock>,
        /// Result of the tool, if it returned one.
        result: Option<Box<CallToolResult>>,
    },
    /// All calls of a message have results. The next model request follows, unless an output was submitted or the run has timed
    /// out; then calls in flight were cancelled.
    #[non_exhaustive]
    RoundFinished {
        /// Number of model messages so far.
        iterations: u32,
        /// Token usage so far, if the model reports it.
        usage: Option<Usage>,
    },
    /// The run has ended; awaiting the [`Run`](crate::Run) returns the report. A run that fails ends without
    /// this event.
    Done(StopReason),
}

/// Queue of unread events. Consecutive text is merged into one event, so the model's limits bound it. When there is too
/// much progress, the oldest is dropped. All other events are bounded by the number of calls in one message.
#[derive(Debug)]
pub(super) struct Events {
    queue: VecDeque<RunEvent>,
    progress: usize,
    max_progress: usize,
}

impl Events {
    pub(super) fn new(max_progress: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            progress: 0,
            max_progress,
        }
    }

    pub(super) fn push(&mut self, event: RunEvent) {
        match (event, self.queue.back_mut()) {
            (RunEvent::Text(more), Some(RunEvent::Text(text))) => text.push_str(&more),
            (event @ RunEvent::Progress { .. }, _) => {
                self.queue.push_back(event);
                self.progress += 1;
                if self.progress > self.max_progress {
                    self.drop_oldest_progress();
                }
            }
            (event, _) => self.queue.push_back(event),
        }
    }

    pub(super) fn pop(&mut self) -> Option<RunEvent> {
        let event = self.queue.pop_front();
        if matches!(event, Some(RunEvent::Progress { .. })) {
            self.progress -= 1;
        }
        event
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.progress = 0;
    }

    fn drop_oldest_progress(&mut self) {
        let is_progress = |event: &RunEvent| matches!(event, RunEvent::Progress { .. });
        if let Some(oldest) = self.queue.iter().position(is_progress) {
            self.queue.remove(oldest);
            self.progress -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use treenail_schema::ProgressToken;

    use super::*;

    fn progress(step: u64) -> RunEvent {
        let token = ProgressToken::from(1);
        RunEvent::Progress {
            id: "1".to_owned(),
            progress: Box::new(ProgressNotificationParams::new(token, step)),
        }
    }

    #[test]
    fn text_is_merged_and_old_progress_dropped() {
        let mut events = Events::new(2);
        for text in ["a", "b"] {
            events.push(RunEvent::Text(text.to_owned()));
        }
        for step in 1..=5 {
            events.push(progress(step));
        }
        events.push(RunEvent::Text("c".to_owned()));
        let queue: Vec<RunEvent> = std::iter::from_fn(|| events.pop()).collect();
        let text = |text: &str| RunEvent::Text(text.to_owned());
        assert_eq!(queue, [text("ab"), progress(4), progress(5), text("c")]);
        assert_eq!(events.progress, 0);

        let mut none = Events::new(0);
        none.push(progress(1));
        assert_eq!(none.pop(), None);
    }
}
