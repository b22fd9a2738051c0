//! One life of a task, over several processes.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use treenail::tasks::TaskStore;

use super::worker::Worker;

/// Maximum wait for the end of a task. A busy disk may take seconds for each change.
const END_TIMEOUT: Duration = Duration::from_secs(300);

/// Final state of a task.
#[derive(Debug, PartialEq)]
pub(crate) enum End {
    /// The process was killed before the task was stored, and its client received no answer.
    NotCreated,
    Completed(String),
    Failed(String),
}

/// Life of a task.
pub(crate) struct Life {
    pub(crate) end: End,
    /// Steps with the process that made their effect, in order.
    pub(crate) effects: Vec<(String, String)>,
    /// Number of processes that were killed.
    pub(crate) killed: usize,
}

/// Place of a store, which the worker and the test open.
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) store: Box<dyn Fn() -> Arc<dyn TaskStore> + Send + Sync>,
}

struct Run<'a> {
    place: &'a Place,
    effects: PathBuf,
    kills: std::slice::Iter<'a, u64>,
    worker: Option<Worker>,
    killed: usize,
    _directory: TempDir,
}

/// Calls a tool, and follows its task to the end. The first process is killed at the first of the points, the next one at the
/// next, and the last one lives on.
pub(crate) fn live(place: &Place, tool: &str, kills: &[u64]) -> Life {
    let directory = tempfile::tempdir().unwrap();
    let mut run = Run {
        place,
        effects: directory.path().join("effects"),
        kills: kills.iter(),
        worker: None,
        killed: 0,
        _directory: directory,
    };
    let end = run.follow(tool);
    if run.stop() {
        // A process that is killed after the end changes nothing, which another one confirms.
        let id = run.find();
        let again = id.map_or(End::NotCreated, |id| run.poll_to_end(&id));
        assert_eq!(again, end, "an end is final");
        run.stop();
    }
    let effects = fs::read_to_string(&run.effects).unwrap_or_default();
    let effects = effects.lines().map(|line| {
        let (step, id) = line.split_once(' ').unwrap();
        (step.to_owned(), id.to_owned())
    });
    Life {
        end,
        effects: effects.collect(),
        killed: run.killed,
    }
}

impl Run<'_> {
    /// Sends a request to the current process. `None` means that it was killed.
    fn request(&mut self, method: &str, params: Value) -> Option<Value> {
        let worker = self.worker.get_or_insert_with(|| {
            let kill_at = self.kills.next().copied().unwrap_or(0);
            Worker::start(&self.place.name, &self.effects, kill_at)
        });
        let answer = worker.request(method, params);
        if answer.is_none() {
            self.worker.take().unwrap().reap();
            self.killed += 1;
        }
        answer
    }

    /// Stops the current process. Returns whether it was killed.
    fn stop(&mut self) -> bool {
        let killed = self.worker.take().is_some_and(Worker::stop);
        self.killed += usize::from(killed);
        killed
    }

    fn follow(&mut self, tool: &str) -> End {
        let called = self.request("tools/call", json!({"name": tool, "arguments": {}}));
        let id = match called {
            Some(called) => {
                assert_eq!(called["result"]["resultType"], "task", "{called}");
                Some(called["result"]["taskId"].as_str().unwrap().to_owned())
            }
            // The client has no id, but the task may exist.
            None => self.find(),
        };
        id.map_or(End::NotCreated, |id| self.poll_to_end(&id))
    }

    /// Finds the only task in the store.
    fn find(&self) -> Option<String> {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let tasks = runtime
            .block_on((self.place.store)().list("", None, 2))
            .unwrap();
        assert!(tasks.len() < 2, "a call makes one task");
        Some(tasks.first()?.id.as_str().to_owned())
    }

    fn poll_to_end(&mut self, id: &str) -> End {
        let deadline = Instant::now() + END_TIMEOUT;
        loop {
            assert!(Instant::now() < deadline, "the task does not end");
            let Some(answer) = self.request("tasks/get", json!({"taskId": id})) else {
                continue;
            };
            let task = &answer["result"];
            match task["status"].as_str() {
                Some("working") => {}
                Some("input_required") => {
                    let answers = confirm_all(&task["inputRequests"]);
                    // A process that is killed here leaves the question open, or has stored the answer.
                    let _ = self.request(
                        "tasks/update",
                        json!({"taskId": id, "inputResponses": answers}),
                    );
                }
                Some("completed") => {
                    let result = &task["result"];
                    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
                    return if result["isError"] == true {
                        End::Failed(text)
                    } else {
                        End::Completed(text)
                    };
                }
                Some("failed") => {
                    let message = task["error"]["message"].as_str().unwrap();
                    return End::Failed(message.to_owned());
                }
                _ => panic!("{answer}"),
            }
        }
    }
}

/// Returns affirmative answers to all questions.
pub(crate) fn confirm_all(requests: &Value) -> Value {
    let requests = requests.as_object().unwrap();
    let answers = requests.iter().map(|(key, request)| {
        let fields = request["params"]["requestedSchema"]["properties"].as_object();
        let content = fields
            .into_iter()
            .flatten()
            .map(|(name, _)| (name.clone(), Value::Bool(true)));
        let content: Value = content.collect();
        (key.clone(), json!({"action": "accept", "content": content}))
    });
    answers.collect()
}
