//! Journal of results for runs that restart.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use treenail::agent::{
    Journal, Model, ModelFuture, ScriptedModel, ScriptedReply, StopReason, TextSink, ToolLoop,
};
use treenail::schema::CreateMessageRequestParams;

use crate::fixture::{desk, results};

/// A model with a write-only journal.
struct Kept {
    model: ScriptedModel,
    journal: Arc<Mutex<Vec<(String, Value)>>>,
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
    fn recall(&self, _: &str) -> Option<Value> {
        None
    }

    fn record(&self, key: &str, value: Value) {
        self.journal.lock().unwrap().push((key.to_owned(), value));
    }
}

#[tokio::test(start_paused = true)]
async fn results_of_interrupted_calls_are_not_recorded() {
    let (server, _) = desk();
    let model = ScriptedModel::new([ScriptedReply::call(
        "wait",
        json!({"name": "slow", "millis": 20_000}),
    )
    .and_call("echo", json!({"text": "a"}))
    .and_call("nope", json!({}))]);
    let journal = Arc::default();
    let model = Kept {
        model,
        journal: Arc::clone(&journal),
    };
    let agent = ToolLoop::new(model).source("desk", server);
    let report = agent.timeout(Duration::from_secs(1)).run("Go").await;
    let report = report.unwrap();
    assert_eq!(report.stop_reason, StopReason::Timeout);
    assert!(results(&report)[0].1, "the model is told all the same");
    let mut retained: Vec<_> = journal
        .lock()
        .unwrap()
        .iter()
        .map(|(key, _)| key.clone())
        .collect();
    retained.sort();
    assert_eq!(retained, ["1", "2"]);
}
