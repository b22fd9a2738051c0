//! Calls of users, running and finished.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::log::truncate;
use super::{Hub, now_ms};
use crate::server::{PauseGuard, RequestTimer};

/// Maximum number of running calls.
const MAX_RUNNING: usize = 32;

/// Maximum number of finished calls.
const MAX_FINISHED: usize = 100;

/// Maximum size of the outcomes of finished calls, in bytes. The latest outcome is retained in any case.
const MAX_OUTCOME_BYTES: usize = 32 << 20;

/// Maximum size of the message of a progress notification, in bytes.
const MAX_PROGRESS_BYTES: usize = 4 << 10;

/// Call to start.
#[derive(Clone, Debug)]
pub(crate) struct NewCall {
    /// `tool`, `prompt` or `resource`.
    pub(crate) kind: String,
    /// Name or URI.
    pub(crate) target: String,
    pub(crate) arguments: Value,
}

/// End of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// JSON of the result. True for a tool that has failed.
    Result(Value, bool),
    /// JSON of the error, with a `message`.
    Error(Value),
    Cancelled,
}

#[derive(Debug)]
struct Call {
    id: u64,
    new: NewCall,
    time: u64,
    started: Instant,
    timer: Arc<RequestTimer>,
    /// Task of a running call; `None` until it is spawned.
    task: Option<AbortHandle>,
    status: &'static str,
    ms: Option<f64>,
    progress: Value,
    /// JSON text of the outcome; empty while the call runs.
    outcome: String,
}

/// Calls, in the order of their start.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: VecDeque<Call>,
    last: u64,
}

impl Calls {
    pub(crate) fn to_json(&self) -> Value {
        self.calls.iter().map(Call::to_json).collect()
    }

    /// Returns the description and the JSON text of the outcome of a call.
    pub(crate) fn get(&self, id: u64) -> Option<(Value, &str)> {
        let call = self.calls.iter().find(|call| call.id == id)?;
        Some((call.to_json(), &call.outcome))
    }

    /// Pauses the timeouts of all running calls, until the guards are dropped.
    pub(crate) fn pause(&self) -> Vec<PauseGuard> {
        let running = self.calls.iter().filter(|call| call.outcome.is_empty());
        running.map(|call| call.timer.pauses().pause()).collect()
    }

    fn find(&mut self, id: u64) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.id == id)
    }

    /// Drops the oldest finished calls beyond the limits.
    fn prune(&mut self) {
        loop {
            let finished = self.calls.iter().filter(|call| !call.outcome.is_empty());
            let (count, bytes) = finished.fold((0, 0), |(count, bytes), call| {
                (count + 1, bytes + call.outcome.len())
            });
            if count <= MAX_FINISHED && (bytes <= MAX_OUTCOME_BYTES || count <= 1) {
                return;
            }
            let oldest = self.calls.iter().position(|call| !call.outcome.is_empty());
            let Some(oldest) = oldest else {
                return;
            };
            self.calls.remove(oldest);
        }
    }
}

impl Call {
    fn to_json(&self) -> Value {
        json!({
            "type": "call",
            "id": self.id,
            "kind": self.new.kind,
            "target": self.new.target,
            "arguments": self.new.arguments,
            "time": self.time,
            "status": self.status,
            "ms": self.ms,
            "progress": self.progress,
        })
    }
}

impl Hub {
    /// Adds a running call, and returns its id; `None` if too many are running.
    pub(crate) fn start_call(&self, new: NewCall, timer: &Arc<RequestTimer>) -> Option<u64> {
        let mut state = self.state();
        let calls = &mut state.calls;
        let running = calls.calls.iter().filter(|call| call.outcome.is_empty());
        if running.count() >= MAX_RUNNING {
            return None;
        }
        calls.last += 1;
        let call = Call {
            id: calls.last,
            new,
            time: now_ms(),
            started: Instant::now(),
            timer: Arc::clone(timer),
            task: None,
            status: "running",
            ms: None,
            progress: Value::Null,
            outcome: String::new(),
        };
        let (id, event) = (call.id, call.to_json());
        calls.calls.push_back(call);
        self.send(&state, &event);
        Some(id)
    }

    /// Sets the task of a call, which cancellation aborts.
    pub(crate) fn set_call_task(&self, id: u64, task: AbortHandle) {
        if let Some(call) = self.state().calls.find(id) {
            call.task = Some(task);
        }
    }

    /// Reports the progress of a call. A long message is cut.
    pub(crate) fn report_progress(&self, id: u64, mut progress: Value) {
        if let Some(Value::String(message)) = progress.get_mut("message") {
            truncate(message, MAX_PROGRESS_BYTES);
        }
        let mut state = self.state();
        let Some(call) = state.calls.find(id) else {
            return;
        };
        call.timer.restart();
        call.progress = progress;
        let event = json!({"type": "progress", "id": id, "progress": call.progress});
        self.send(&state, &event);
    }

    /// Ends a call, unless it has ended already.
    pub(crate) fn end_call(&self, id: u64, outcome: Outcome) {
        let mut state = self.state();
        let Some(call) = state.calls.find(id).filter(|call| call.outcome.is_empty()) else {
            return;
        };
        let (status, outcome) = match outcome {
            Outcome::Result(result, false) => ("done", json!({ "result": result })),
            Outcome::Result(result, true) => ("failed", json!({ "result": result })),
            Outcome::Error(error) => ("error", json!({ "error": error })),
            Outcome::Cancelled => ("cancelled", json!({})),
        };
        call.status = status;
        call.outcome = outcome.to_string();
        call.ms = Some(call.started.elapsed().as_secs_f64() * 1_000.0);
        call.task = None;
        let event = call.to_json();
        state.calls.prune();
        self.send(&state, &event);
    }

    /// Cancels a call. Returns false if it is not running.
    pub(crate) fn cancel_call(&self, id: u64) -> bool {
        let task = self
            .state()
            .calls
            .find(id)
            .and_then(|call| call.task.take());
        let Some(task) = task else {
            return false;
        };
        task.abort();
        self.end_call(id, Outcome::Cancelled);
        true
    }

    /// Cancels all calls, because the connection ends.
    pub(crate) fn cancel_calls(&self) {
        let running: Vec<_> = self
            .state()
            .calls
            .calls
            .iter()
            .map(|call| call.id)
            .collect();
        for id in running {
            self.cancel_call(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn start(hub: &Hub) -> Option<u64> {
        let timer = RequestTimer::new(Duration::from_secs(1));
        let new = NewCall {
            kind: "tool".to_owned(),
            target: "add".to_owned(),
            arguments: json!({}),
        };
        hub.start_call(new, &timer)
    }

    #[test]
    fn running_calls_are_bounded() {
        let hub = Hub::default();
        let ids: Vec<_> = (0..MAX_RUNNING).map(|_| start(&hub).unwrap()).collect();
        assert_eq!(start(&hub), None);
        hub.end_call(ids[0], Outcome::Result(json!(1), false));
        assert!(start(&hub).is_some());
    }

    #[test]
    fn finished_calls_are_bounded() {
        let hub = Hub::default();
        for _ in 0..=MAX_FINISHED {
            let id = start(&hub).unwrap();
            hub.end_call(id, Outcome::Error(json!({})));
        }
        let state = hub.state();
        assert_eq!(state.calls.calls.len(), MAX_FINISHED);
        assert!(state.calls.get(1).is_none());
        let (call, outcome) = state.calls.get(2).unwrap();
        assert_eq!(
            (&call["status"], outcome),
            (&json!("error"), r#"{"error":{}}"#)
        );
    }

    #[test]
    fn messages_of_progress_are_bounded() {
        let hub = Hub::default();
        let id = start(&hub).unwrap();
        let progress = json!({"progress": 1, "message": "ü".repeat(1 << 20)});
        hub.report_progress(id, progress);
        let state = hub.state();
        let (call, _) = state.calls.get(id).unwrap();
        let message = call["progress"]["message"].as_str().unwrap();
        assert_eq!(message.len(), MAX_PROGRESS_BYTES);
    }

    #[test]
    fn a_call_ends_once() {
        let hub = Hub::default();
        let id = start(&hub).unwrap();
        hub.end_call(id, Outcome::Result(json!(1), true));
        hub.end_call(id, Outcome::Cancelled);
        assert_eq!(hub.state().calls.get(id).unwrap().0["status"], "failed");
        assert!(!hub.cancel_call(id));
    }
}
