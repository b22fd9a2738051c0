//! Tasks of a process that is stopped for longer than its lease and continues, beside a process with another clock; and of both
//! processes on a computer that is suspended.

mod pair;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rustix::process::{Signal, kill_process};
use serde_json::json;
use treenail::tasks::TaskStore;

use self::pair::{End, LEASE_MS, Pair, running, suspend};
use crate::kill::worker::Worker;

const STEPS: [&str; 3] = ["first", "second", "third"];
/// Differences between the clocks of the processes, in milliseconds: less than a lease, and more. All are less than the time that a
/// finished task remains readable, which is an hour: a clock that is further ahead deletes it.
const AHEAD_MS: [i64; 4] = [0, 500, -500, 1_800_000];
/// Maximum number of runs of a task with short leases.
const MOST_RUNS: usize = 20;
/// Number of lives at the same time. They wait for leases most of the time.
const THREADS: usize = 8;

/// Life of a task that two processes see.
struct Life {
    end: End,
    /// Steps with the process that made their effect, in order.
    effects: Vec<(String, String)>,
    has_stopped: bool,
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

/// The clock continues while a computer is suspended, and the renewals of leases do not.
#[test]
fn a_suspended_computer_interrupts_no_task() {
    let mut pair = Pair::start(0, 0);
    let call = json!({"name": "plain_order", "arguments": {}});
    let call = pair.here.send("tools/call", call).unwrap();
    let id = pair.called(call);
    for worker in [&mut pair.there, &mut pair.here] {
        suspend(worker);
    }
    // The other process searches for interrupted tasks more often than this one renews its lease.
    let version = pair.version();
    while pair.version() < version + 2 && running(&mut pair.here) != "0" {}
    let end = pair.follow_task(&id);
    assert!(matches!(end, End::Completed(_)), "{end:?}");
}
