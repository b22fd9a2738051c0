//! A file of SQLite on a disk without space: the process may not write to files for a time.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{ChildStderr, Command, Stdio};

use rustix::process::{Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kill::confirm_all;
use crate::kill::worker::Worker;

struct Disk {
    worker: Worker,
    log: BufReader<ChildStderr>,
    directory: TempDir,
}

impl Disk {
    fn start(lease_ms: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        // A write beyond the limit is an error, and not the end of the process.
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                "trap '' XFSZ; exec \"$0\"",
                env!("CARGO_BIN_EXE_worker"),
            ])
            .env("STORE", directory.path().join("tasks.db"))
            .env("EFFECTS", directory.path().join("effects"))
            .env("LEASE_MS", lease_ms.to_string())
            .stderr(Stdio::piped());
        let mut worker = Worker::spawn(&mut command);
        Self {
            log: worker.log(),
            worker,
            directory,
        }
    }

    /// Sets whether the process can write to files. Pipes are none.
    fn set_full(&self, is_full: bool) {
        let limit = Rlimit {
            current: is_full.then_some(0),
            maximum: None,
        };
        prlimit(Some(self.worker.id()), Resource::Fsize, limit).unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.worker.request(method, params).unwrap()
    }

    fn call(&mut self) -> Value {
        let params = json!({"name": "order", "arguments": {}});
        self.request("tools/call", params)
    }

    /// Calls a tool whose task asks after its first effect. Returns the task.
    fn ask(&mut self) -> String {
        let called = self.call();
        let id = called["result"]["taskId"].as_str().unwrap().to_owned();
        while self.get(&id)["status"] != "input_required" {}
        id
    }

    fn get(&mut self, id: &str) -> Value {
        self.request("tasks/get", json!({"taskId": id}))["result"].clone()
    }

    /// Answers the question of a task.
    fn answer(&mut self, id: &str) -> Value {
        let answers = confirm_all(&self.get(id)["inputRequests"]);
        let params = json!({"taskId": id, "inputResponses": answers});
        self.request("tasks/update", params)
    }

    /// Waits for a line of the log with a text. Returns the line.
    fn until_logged(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "no `{text}`");
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Answers the question, and checks the end and the effects, all of which were made once.
    fn finish(mut self, id: &str) {
        let answered = self.answer(id);
        assert_eq!(answered["result"]["resultType"], "complete", "{answered}");
        let end = loop {
            let task = self.get(id);
            if task["status"] != "working" {
                break task;
            }
        };
        assert_eq!(end["status"], "completed", "{end}");
        assert_ne!(end["result"]["isError"], true, "{end}");
        let effects = fs::read_to_string(self.directory.path().join("effects")).unwrap();
        let steps = effects.lines().filter_map(|line| line.split(' ').next());
        assert_eq!(steps.collect::<Vec<_>>(), ["first", "second", "third"]);
        assert!(!self.worker.stop());
    }
}

#[test]
fn a_full_disk_refuses_changes_with_a_reason_until_it_has_space() {
    let mut disk = Disk::start(60_000);
    let id = disk.ask();
    disk.set_full(true);
    let refused = disk.answer(&id);
    assert_eq!(refused["error"]["code"], -32_603, "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("the task store is "), "{message}");
    let reason = disk.until_logged("the task store failed a request");
    assert!(reason.contains("could not be written"), "{reason}");
    assert_eq!(disk.get(&id)["status"], "input_required", "it is readable");
    // A call that cannot become a task is a plain one, whose first effect finds no space either.
    let called = disk.call();
    assert_eq!(called["result"]["isError"], true, "{called}");
    disk.until_logged("the task store failed a request");
    disk.set_full(false);
    disk.finish(&id);
}

#[test]
fn a_disk_that_is_full_for_longer_than_a_lease_loses_no_task() {
    let mut disk = Disk::start(1_000);
    let id = disk.ask();
    disk.set_full(true);
    disk.until_logged("the lease of a task could not be renewed; trying again");
    disk.until_logged("the run of a task was stopped");
    assert_eq!(disk.get(&id)["status"], "input_required");
    disk.set_full(false);
    disk.until_logged("an interrupted task runs again");
    disk.finish(&id);
}
