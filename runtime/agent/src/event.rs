//! Events of a run, and their queue.

use std::collections::VecDeque;

use treenail_runtime::internal::progress_bytes;
use treenail_schema::{CallToolResult, ContentBlock, ProgressNotificationParams};

use crate::{ApprovalRequest, RequestedCall, StopReason, ToolLoopLimits, Usage};

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
    /// The server reports progress of a call. Unread progress is bounded by
    /// [`ToolLoopLimits::queued_progress`](crate::ToolLoopLimits::queued_progress) and `queued_progress_bytes`.
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
    /// Sizes of the progress events in the queue, in order.
    progress: VecDeque<usize>,
    progress_bytes: usize,
    max_progress: usize,
    max_progress_bytes: usize,
}

impl Events {
    pub(super) fn new(limits: &ToolLoopLimits) -> Self {
        Self {
            queue: VecDeque::new(),
            progress: VecDeque::new(),
            progress_bytes: 0,
            max_progress: limits.queued_progress,
            max_progress_bytes: limits.queued_progress_bytes,
        }
    }

    pub(super) fn push(&mut self, event: RunEvent) {
        match (event, self.queue.back_mut()) {
            (RunEvent::Text(more), Some(RunEvent::Text(text))) => text.push_str(&more),
            (RunEvent::Progress { id, progress }, _) => {
                let bytes = id.len() + progress_bytes(&progress);
                self.progress.push_back(bytes);
                self.progress_bytes += bytes;
                self.queue.push_back(RunEvent::Progress { id, progress });
                while self.has_too_much_progress() {
                    self.drop_oldest_progress();
                }
            }
            (event, _) => self.queue.push_back(event),
        }
    }

    pub(super) fn pop(&mut self) -> Option<RunEvent> {
        let event = self.queue.pop_front();
        if matches!(event, Some(RunEvent::Progress { .. })) {
            self.note_progress_taken();
        }
        event
    }

    /// Returns true if there are events, and all of them are progress.
    pub(super) fn has_only_progress(&self) -> bool {
        !self.queue.is_empty() && self.queue.len() == self.progress.len()
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.progress.clear();
        self.progress_bytes = 0;
    }

    fn has_too_much_progress(&self) -> bool {
        self.progress.len() > self.max_progress || self.progress_bytes > self.max_progress_bytes
    }

    fn drop_oldest_progress(&mut self) {
        let is_progress = |event: &RunEvent| matches!(event, RunEvent::Progress { .. });
        let oldest = self.queue.iter().position(is_progress);
        oldest.and_then(|oldest| self.queue.remove(oldest));
        self.note_progress_taken();
    }

    /// Notes that the oldest progress has left the queue.
    fn note_progress_taken(&mut self) {
        self.progress_bytes -= self.progress.pop_front().unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
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
        let mut events = Events::new(&ToolLoopLimits::default().queued_progress(2));
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
        assert_eq!((events.progress.len(), events.progress_bytes), (0, 0));

        let mut none = Events::new(&ToolLoopLimits::default().queued_progress(0));
        none.push(progress(1));
        assert_eq!(none.pop(), None);
    }

    #[test]
    fn progress_is_bounded_by_its_memory() {
        let large = |step: u64| {
            // As text, it has 8 KB.
            let params =
                json!({"progressToken": 1, "progress": step, "_meta": {"x": vec![1; 4_000]}});
            let progress = serde_json::from_value(params).expect("it is a notification");
            RunEvent::Progress {
                id: "1".to_owned(),
                progress: Box::new(progress),
            }
        };
        let limits = ToolLoopLimits::default().queued_progress_bytes(1 << 20);
        let mut events = Events::new(&limits);
        (1..=100).for_each(|step| events.push(large(step)));
        assert_eq!(events.queue.len(), 2);
        assert_eq!(events.queue.back(), Some(&large(100)));
        while events.pop().is_some() {}
        assert_eq!((events.progress.len(), events.progress_bytes), (0, 0));

        let mut events = Events::new(&limits.queued_progress_bytes(1 << 10));
        events.push(progress(1));
        events.push(large(2));
        assert_eq!(events.pop(), None, "it is larger than the bound alone");
    }
}
