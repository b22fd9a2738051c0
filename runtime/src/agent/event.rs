//! What happens in a run, while it happens.

use std::collections::VecDeque;

use treenail_schema::{CallToolResult, ContentBlock, ProgressNotificationParams};

use crate::agent::{ApprovalRequest, RequestedCall, StopReason, Usage};

/// Something that happens in a run. [`Run`](crate::agent::Run) is a stream of them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunEvent {
    /// More text of the model's message. Calls are not in it, also where a model writes them as text.
    Text(String),
    /// The model asks for a call.
    CallRequested(RequestedCall),
    /// A call waits for [`Run::approve`](crate::agent::Run::approve) or [`Run::deny`](crate::agent::Run::deny).
    ApprovalRequested(Box<ApprovalRequest>),
    /// A call is made.
    #[non_exhaustive]
    CallStarted {
        /// The id of the call.
        id: String,
    },
    /// The server says how far a call is.
    #[non_exhaustive]
    Progress {
        /// The id of the call.
        id: String,
        /// What the server says.
        progress: Box<ProgressNotificationParams>,
    },
    /// A call has ended, or is not made.
    #[non_exhaustive]
    CallFinished {
        /// The id of the call.
        id: String,
        /// Whether it failed, or was not made.
        is_error: bool,
        /// What the model is told.
        content: Vec<ContentBlock>,
        /// What the tool has returned, if it did.
        result: Option<Box<CallToolResult>>,
    },
    /// All calls of a message have their results. The model is asked again, unless the time of the run is over, which cuts
    /// short the calls that have not ended.
    #[non_exhaustive]
    RoundFinished {
        /// How many messages the model has written so far.
        iterations: u32,
        /// What they took, if the model says so.
        usage: Option<Usage>,
    },
    /// The run has ended; awaiting the [`Run`](crate::agent::Run) brings the report. A run that fails ends without.
    Done(StopReason),
}

/// Events that wait to be read. Text that follows text becomes one event, and the model's bounds bound it; of progress the
/// oldest are lost; there are no more of the others than the calls of one message bring.
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
    fn texts_become_one_and_of_progress_the_newest_stay() {
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
