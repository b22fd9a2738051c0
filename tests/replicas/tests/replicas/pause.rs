//! Tasks of a process that is stopped for longer than its lease and continues, beside a process with another clock.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use treenail::tasks::{SqliteStore, TaskStore};

use crate::kill::confirm_all;
use crate::kill::worker::Worker;

const STEPS: [&str; 3] = ["first", "second", "third"];
/// Lease of a task, in milliseconds.
const LEASE_MS: i64 = 2_000;
/// Differences between the clocks of the processes, in milliseconds: less than a lease, and more. All are less than the time that a
/// finished task remains readable, which is an hour: a clock that is further ahead deletes it.
const AHEAD_MS: [i64; 4] = [0, 500, -500, 1_800_000];
/// Maximum number of runs of a task with short leases.
const MOST_RUNS: usize = 20;
/// Number of lives at the same time. They wait for leases most of the time.
const THREADS: usize = 8;

/// Final state of a task: the text of its result, or the reason of its failure.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Completed(String),
    Failed(String),
}

/// Life of a task that two processes see.
struct Life {
    end: End,
    /// Steps with the process that made their effect, in order.
    effects: Vec<(String, String)>,
    has_stopped: bool,
}

struct Pair {
    /// The process that the client calls, and that stops.
    here: Worker,
    there: Worker,
    /// The test's own view of the store.
    store: SqliteStore,
    runtime: Runtime,
    effects: PathBuf,
    _directory: TempDir,
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

fn running(worker: &mut Worker) -> Value {
    let params = json!({"name": "running", "arguments": {}});
    let answer = worker.request("tools/call", params).unwrap();
    answer["result"]["content"][0]["text"].clone()
}

impl Pair {
    fn start(stop_at: u64, ahead_ms: i64) -> Self {
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
    fn follow(&mut self, here: Pid) -> Option<End> {
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
    fn follow_to_end(&mut self) -> Option<End> {
        let id = self.find()?;
        loop {
            if let Some(end) = poll(&mut self.there, &id) {
                return Some(end);
            }
        }
    }

    /// Follows the task in the first process, which continues.
    fn follow_here(&mut self, call: u64) -> End {
        let called = self.here.response(call).unwrap();
        let id = called["result"]["taskId"].as_str().unwrap().to_owned();
        let end = loop {
            if let Some(end) = poll(&mut self.here, &id) {
                break end;
            }
        };
        // A run that has lost its task ends, and changes nothing.
        while running(&mut self.here) != "0" || running(&mut self.there) != "0" {}
        for worker in [&mut self.here, &mut self.there] {
            assert_eq!(poll(worker, &id), Some(end.clone()), "an end is final");
        }
        end
    }
}

impl Pair {
    /// Ends both processes. Returns the effects.
    fn stop(self) -> Vec<(String, String)> {
        assert!(!self.here.stop() && !self.there.stop());
        let effects = fs::read_to_string(self.effects).unwrap_or_default();
        let effects = effects.lines().map(|line| {
            let (step, id) = line.split_once(' ').unwrap();
            (step.to_owned(), id.to_owned())
        });
        effects.collect()
    }
}

/// Flag that is set when this is dropped.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Calls a tool in a process that stops at a point. It continues once another process has taken its task to the end.
fn live(tool: &str, stop_at: u64, ahead_ms: i64) -> Life {
    let mut pair = Pair::start(stop_at, ahead_ms);
    let (pid, done) = (pair.here.id(), AtomicBool::new(false));
    let call = json!({"name": tool, "arguments": {}});
    let call = pair.here.send("tools/call", call).unwrap();
    let mut end = pair.follow(pid);
    let has_stopped = Worker::is_stopped(pid);
    if has_stopped && end.is_none() {
        end = pair.follow_to_end();
    }
    let (has_stopped, last, effects) = thread::scope(|scope| {
        // From now on, the process continues wherever it stops.
        let continued = scope.spawn(|| {
            let mut has_stopped = has_stopped;
            while !done.load(Ordering::SeqCst) {
                if Worker::is_stopped(pid) {
                    has_stopped = true;
                    kill_process(pid, Signal::CONT).unwrap();
                }
                thread::yield_now();
            }
            has_stopped
        });
        // Also if the test fails here: the thread would continue the process for ever.
        let ends = SetOnDrop(&done);
        let last = pair.follow_here(call);
        let effects = pair.stop();
        drop(ends);
        (continued.join().unwrap(), last, effects)
    });
    assert!(end.is_none_or(|end| end == last), "an end is final");
    Life {
        end: last,
        effects,
        has_stopped,
    }
}

/// Checks that no effect was lost, doubled or made after the end, and that the end is true.
fn check(tool: &str, life: &Life, context: &str) {
    let made = |step| {
        let of_step = life.effects.iter().filter(move |(made, _)| made == step);
        of_step.map(|(_, id)| id.as_str()).collect::<Vec<_>>()
    };
    let is_repeatable = tool == "idempotent_order";
    // A busy machine may end leases of processes that run.
    let most = if is_repeatable { MOST_RUNS } else { 1 };
    for step in STEPS {
        assert!(made(step).len() <= most, "`{step}` was doubled: {context}");
    }
    match &life.end {
        End::Completed(text) => {
            let words: Vec<_> = text.split(' ').collect();
            for (step, pair) in STEPS.into_iter().zip(words.chunks(2)) {
                assert_eq!(pair[0], step, "{context}");
                assert!(
                    made(step).contains(&pair[1]),
                    "a value is not of its effect: {context}"
                );
            }
        }
        End::Failed(message) => {
            assert!(!is_repeatable, "{context}");
            if message == "interrupted by a restart" {
                // The process stopped before it had confirmed the task.
                assert_eq!(life.effects, [], "{context}");
                return;
            }
            assert!(message.contains("it may have happened"), "{context}");
            let unclear = |step: &str| message.contains(&format!("once(\"{step}\")"));
            let unclear = STEPS.iter().position(|step| unclear(step)).unwrap();
            for (index, step) in STEPS.into_iter().enumerate() {
                let count = made(step).len();
                assert!(
                    index >= unclear || count == 1,
                    "`{step}` was lost: {context}"
                );
                assert!(
                    index <= unclear || count == 0,
                    "`{step}` was late: {context}"
                );
            }
        }
    }
}

#[test]
fn a_stopped_process_that_continues_changes_and_doubles_nothing() {
    for tool in ["order", "idempotent_order"] {
        let (next, last) = (AtomicU64::new(1), AtomicU64::new(u64::MAX));
        let mut ends = BTreeSet::new();
        let lives = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| scope.spawn(|| stop_at_each_point(tool, &next, &last)))
                .collect();
            let ended = threads.into_iter().map(|thread| thread.join().unwrap());
            ended.collect::<Vec<_>>()
        });
        for end in lives.into_iter().flatten() {
            ends.insert(matches!(end, End::Completed(_)));
        }
        assert!(last.load(Ordering::SeqCst) > 20, "there were few points");
        let expected = match tool {
            "order" => BTreeSet::from([false, true]),
            _ => BTreeSet::from([true]),
        };
        assert_eq!(ends, expected, "{tool}");
    }
}

/// Stops a process at points, until one lives without a stop.
fn stop_at_each_point(tool: &str, next: &AtomicU64, last: &AtomicU64) -> Vec<End> {
    let mut ends = Vec::new();
    loop {
        let point = next.fetch_add(1, Ordering::SeqCst);
        if point > last.load(Ordering::SeqCst) {
            return ends;
        }
        let ahead_ms = AHEAD_MS[usize::try_from(point).unwrap() % AHEAD_MS.len()];
        let life = live(tool, point, ahead_ms);
        let (end, effects) = (&life.end, &life.effects);
        let context =
            format!("{tool}, stopped at {point}, {ahead_ms} ms ahead: {end:?}, {effects:?}");
        check(tool, &life, &context);
        // A clock far ahead takes the task from a process before most of its points.
        if !life.has_stopped && ahead_ms < LEASE_MS {
            last.fetch_min(point, Ordering::SeqCst);
        }
        ends.push(life.end);
    }
}

/// A process whose clock is behind does not take a task over too early, and the stopped process takes its own task over.
#[test]
fn a_clock_that_is_behind_delays_a_task_and_loses_none() {
    let mut pair = Pair::start(4, -3_600_000);
    let pid = pair.here.id();
    let call = json!({"name": "idempotent_order", "arguments": {}});
    let call = pair.here.send("tools/call", call).unwrap();
    assert_eq!(pair.follow(pid), None);
    // The lease has ended by the clock of the stopped process.
    while pair.runtime.block_on(pair.store.due(1)).unwrap().is_empty() {}
    assert_eq!(running(&mut pair.there), "0");
    kill_process(pid, Signal::CONT).unwrap();
    let end = pair.follow_here(call);
    assert!(matches!(end, End::Completed(_)), "{end:?}");
}
