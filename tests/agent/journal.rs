//! Journal of results for runs that restart.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use treenail::agent::{
    Journal, Model, ModelFuture, Run, RunEvent, RunReport, ScriptedModel, ScriptedReply,
    StopReason, TextSink, ToolLoop,
};
use treenail::schema::CreateMessageRequestParams;

use crate::fixture::{assert_well_formed, desk};

/// A model with a journal for one message.
struct Kept {
    model: ScriptedModel,
    journal: Arc<Mutex<BTreeMap<String, Value>>>,
}

impl Model for Kept {
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        on_text: TextSink<'a>,
    ) -> ModelFuture<'a> {
        self.model.create_message(request, on_text)
    }

    fn journal(&self) -> Option<&dyn Journal> {
        Some(self)
    }
}

impl Journal for Kept {
    fn recall(&self, key: &str) -> Option<Value> {
        self.journal.lock().unwrap().get(key).cloned()
    }

    fn record(&self, key: &str, value: Value) {
        self.journal.lock().unwrap().insert(key.to_owned(), value);
    }
}

/// Cancels a run when its second call has finished.
async fn cancelled(mut run: Run) -> RunReport {
    let is_second =
        |event: &RunEvent| matches!(event, RunEvent::CallFinished { id, .. } if id == "call-2");
    while let Some(event) = run.next().await {
        if is_second(&event) {
            return run.cancel();
        }
    }
    run.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_restarted_run_ends_where_it_has_ended_and_makes_no_call_again() {
    for expected in [StopReason::Timeout, StopReason::Cancelled] {
        let (server, log) = desk();
        let journal = Arc::default();
        let run = || {
            let slow = ScriptedReply::call("wait", json!({"name": "slow", "millis": 20_000}));
            let calls = slow
                .and_call("echo", json!({"text": "a"}))
                .and_call("nope", json!({}));
            let model = Kept {
                model: ScriptedModel::new([calls, ScriptedReply::text("never said")]),
                journal: Arc::clone(&journal),
            };
            let agent = ToolLoop::new(model).source("desk", &server);
            agent.timeout(Duration::from_secs(1)).run("Go")
        };
        let first = match expected {
            StopReason::Cancelled => cancelled(run()).await,
            _ => run().await.unwrap(),
        };
        assert_eq!(first.stop_reason, expected);
        assert_well_formed(&first.transcript);
        let again = run().await.unwrap();
        assert_eq!(again, first);
        let mut begun = log.lines();
        begun.retain(|line| !line.starts_with("cancel"));
        assert_eq!(begun, ["begin slow", "echo a"], "{expected:?}");
    }
}
