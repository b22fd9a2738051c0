//! Pair of processes that share a store, and the task of the first one as each of them sees it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use treenail::tasks::{SqliteStore, TaskStore};

use crate::kill::confirm_all;
use crate::kill::worker::Worker;

/// Lease of a task, in milliseconds.
pub(super) const LEASE_MS: i64 = 2_000;

pub(super) struct Pair {
    /// The process that the client calls, and that stops.
    pub(super) here: Worker,
    pub(super) there: Worker,
    /// The test's own view of the store.
    pub(super) store: SqliteStore,
    pub(super) runtime: Runtime,
    effects: PathBuf,
    _directory: TempDir,
}

/// Final state of a task: the text of its result, or the reason of its failure.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    Completed(String),
    Failed(String),
}

impl Pair {
    pub(super) fn start(stop_at: u64, ahead_ms: i64) -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let directory = directory.unwrap();
        let path = directory.path();
        let runtime = tokio::runtime::Builder::new_current_thread();
        Self {
            here: worker(path, stop_at, 0),
            there: worker(path, 0, ahead_ms),
            store: SqliteStore::open(path.join("tasks.db")).unwrap(),
            runtime: { runtime }.enable_all().build().unwrap(),
            effects: path.join("effects"),
            _directory: directory,
        }
    }

    /// Finds the only task in the store.
    fn find(&self) -> Option<String> {
        let tasks = self.runtime.block_on(self.store.list("", None, 2)).unwrap();
        assert!(tasks.len() < 2, "a call makes one task");
        Some(tasks.first()?.id.as_str().to_owned())
    }

    /// Follows the task through the other process, until the first one stops. Returns the end, if there was one.
    pub(super) fn follow(&mut self, here: Pid) -> Option<End> {
        let mut id = None;
        loop {
            let has_stopped = Worker::is_stopped(here);
            id = id.or_else(|| self.find());
            let end = id.as_ref().and_then(|id| poll(&mut self.there, id));
            if has_stopped || end.is_some() {
                return end;
            }
        }
    }

    /// Follows the task of a stopped process to its end, which another process has to reach.
    pub(super) fn follow_to_end(&mut self) -> Option<End> {
        let id = self.find()?;
        loop {
            if let Some(end) = poll(&mut self.there, &id) {
                return Some(end);
            }
        }
    }

    /// Returns the id of the task of a call.
    pub(super) fn called(&mut self, call: u64) -> String {
        let called = self.here.response(call).unwrap();
        called["result"]["taskId"].as_str().unwrap().to_owned()
    }

    /// Returns the version of the only task in the store.
    pub(super) fn version(&self) -> u64 {
        let tasks = self.runtime.block_on(self.store.list("", None, 2)).unwrap();
        tasks[0].version
    }

    /// Follows the task in the first process, which continues.
    pub(super) fn follow_here(&mut self, call: u64) -> End {
        let id = self.called(call);
        self.follow_task(&id)
    }

    /// Follows a task in the first process to its end.
    pub(super) fn follow_task(&mut self, id: &str) -> End {
        let end = loop {
            if let Some(end) = poll(&mut self.here, id) {
                break end;
            }
        };
        // A run that has lost its task ends, and changes nothing.
        while running(&mut self.here) != "0" || running(&mut self.there) != "0" {}
        for worker in [&mut self.here, &mut self.there] {
            assert_eq!(poll(worker, id), Some(end.clone()), "an end is final");
        }
        end
    }
}

impl Pair {
    /// Ends both processes. Returns the effects.
    pub(super) fn stop(self) -> Vec<(String, String)> {
        assert!(!self.here.stop() && !self.there.stop());
        let effects = fs::read_to_string(self.effects).unwrap_or_default();
        let effects = effects.lines().map(|line| {
            let (step, id) = line.split_once(' ').unwrap();
            (step.to_owned(), id.to_owned())
        });
        effects.collect()
    }
}

fn worker(directory: &Path, stop_at: u64, ahead_ms: i64) -> Worker {
    let mut command = Command::new(env!("CARGO_BIN_EXE_worker"));
    command
        .env("STORE", directory.join("tasks.db"))
        .env("EFFECTS", directory.join("effects"))
        .env("STOP_AT", stop_at.to_string())
        .env("LEASE_MS", LEASE_MS.to_string())
        .env("CLOCK_AHEAD_MS", ahead_ms.to_string())
        .stderr(Stdio::null());
    Worker::spawn(&mut command)
}

/// Returns the final state of a task, and answers its questions before.
fn poll(worker: &mut Worker, id: &str) -> Option<End> {
    let read = json!({"taskId": id});
    let answer = worker.request("tasks/get", read).unwrap();
    let task = &answer["result"];
    match task["status"].as_str() {
        Some("working") => None,
        Some("input_required") => {
            let answers = confirm_all(&task["inputRequests"]);
            let update = json!({"taskId": id, "inputResponses": answers});
            worker.request("tasks/update", update).unwrap();
            None
        }
        Some("completed") => {
            let text = task["result"]["content"][0]["text"].as_str().unwrap();
            Some(match &task["result"]["isError"] {
                Value::Bool(true) => End::Failed(text.to_owned()),
                _ => End::Completed(text.to_owned()),
            })
        }
        Some("failed") => {
            let message = task["error"]["message"].as_str().unwrap();
            Some(End::Failed(message.to_owned()))
        }
        _ => panic!("{answer}"),
    }
}

pub(super) fn running(worker: &mut Worker) -> Value {
    let params = json!({"name": "running", "arguments": {}});
    let answer = worker.request("tools/call", params).unwrap();
    answer["result"]["content"][0]["text"].clone()
}

/// Lets a process wake from a suspension of the computer.
pub(super) fn suspend(worker: &mut Worker) {
    let params = json!({"name": "suspend", "arguments": {"milliseconds": 600_000}});
    let answer = worker.request("tools/call", params).unwrap();
    assert!(answer["result"]["isError"] != true, "{answer}");
}
