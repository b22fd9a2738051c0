//! Tasks of processes that are killed at every point, and continue in others.
//!
//! `TASK_KILLS` is the number of further lives with two kills at random points, by default 0.

#![allow(
    clippy::print_stdout,
    reason = "the figures are for the reader of the test"
)]

mod run;
pub(crate) mod worker;

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use tempfile::TempDir;
use treenail::tasks::{SqliteStore, TaskStore};

use self::run::{End, Life, live};
pub(crate) use self::run::{Place, confirm_all};
use self::worker::Worker;

const STEPS: [&str; 3] = ["first", "second", "third"];
const TOOLS: [&str; 3] = ["order", "idempotent_order", "plain_order"];
/// Number of threads for lives with random kills.
const THREADS: u64 = 4;

/// Number of lives by their end.
#[derive(Debug, Default, PartialEq)]
struct Ends {
    not_created: u64,
    completed: u64,
    failed: u64,
}

impl Ends {
    fn count(&mut self, end: &End) {
        match end {
            End::NotCreated => self.not_created += 1,
            End::Completed(_) => self.completed += 1,
            End::Failed(_) => self.failed += 1,
        }
    }
}

/// Checks that no effect was lost or doubled, and that the end is true.
fn check(tool: &str, kills: &[u64], life: &Life) {
    let context = format!(
        "{tool}, killed at {kills:?}: {:?}, {:?}",
        life.end, life.effects
    );
    let count = |step| life.effects.iter().filter(|(made, _)| made == step).count();
    let repeatable = tool == "idempotent_order";
    for step in STEPS {
        let most = if repeatable { 1 + life.killed } else { 1 };
        assert!(count(step) <= most, "`{step}` was doubled: {context}");
    }
    assert!(
        life.effects
            .is_sorted_by_key(|(made, _)| STEPS.iter().position(|step| step == made))
    );
    match &life.end {
        End::NotCreated => assert_eq!(
            life.effects,
            [],
            "nothing happens before the task is stored: {context}"
        ),
        End::Completed(text) => {
            let last = |step| life.effects.iter().rfind(|(made, _)| made == step);
            let made = STEPS.map(|step| {
                let (_, id) = last(step).unwrap_or_else(|| panic!("`{step}` was lost: {context}"));
                format!("{step} {id}")
            });
            assert_eq!(*text, made.join(" "), "{context}");
        }
        End::Failed(message) => {
            assert!(!repeatable, "{context}");
            assert!(life.killed > 0, "{context}");
            let interrupted = "interrupted by a restart";
            assert!(message.contains(interrupted), "{context}");
            let unclear = STEPS
                .iter()
                .position(|step| message.contains(&format!("once(\"{step}\")")));
            match unclear {
                Some(unclear) => {
                    assert!(message.contains("it may have happened"), "{context}");
                    for (index, step) in STEPS.iter().enumerate() {
                        match index.cmp(&unclear) {
                            std::cmp::Ordering::Less => assert_eq!(count(step), 1, "{context}"),
                            std::cmp::Ordering::Equal => {}
                            std::cmp::Ordering::Greater => assert_eq!(count(step), 0, "{context}"),
                        }
                    }
                }
                // A task that may run again fails for no other reason, unless its process ended before it had confirmed the task.
                None if tool == "order" => assert_eq!(life.effects, [], "{context}"),
                None => assert_eq!(tool, "plain_order", "{context}"),
            }
        }
    }
}

/// Kills a process at each point, one after the other.
fn kill_at_each_point(tool: &str, place: &(dyn Fn() -> Place + Sync)) -> Ends {
    let mut ends = Ends::default();
    for point in 1.. {
        let life = live(&place(), tool, &[point]);
        check(tool, &[point], &life);
        if life.killed == 0 {
            assert!(matches!(life.end, End::Completed(_)), "{:?}", life.end);
            // Creation, two changes and an effect for each step, the question, the answer, and the end.
            assert!(point > 20, "there were only {point} points");
            return ends;
        }
        ends.count(&life.end);
    }
    ends
}

pub(crate) fn check_each_point(place: &(dyn Fn() -> Place + Sync)) {
    let ends = std::thread::scope(|scope| {
        let threads = TOOLS.map(|tool| scope.spawn(move || kill_at_each_point(tool, place)));
        threads.map(|thread| thread.join().unwrap())
    });
    println!("{TOOLS:?}: {ends:?}");
    let [order, idempotent, plain] = ends;
    // Between the start of a step and its value: two points of the store, and two of the effect. Before them, two points between the
    // insertion of the task and its confirmation.
    assert_eq!(order.failed, 2 + 3 * 4, "{order:?}");
    assert_eq!(idempotent.failed, 0, "{idempotent:?}");
    assert!(
        plain.completed < 4 && plain.failed > plain.completed,
        "{plain:?}"
    );
    for ends in [&order, &idempotent, &plain] {
        assert_eq!(
            ends.not_created, 1,
            "only a task that was not stored is lost: {ends:?}"
        );
    }
}

/// Kills two processes at random points, as often as `TASK_KILLS` requests.
pub(crate) fn check_random_points(place: &(dyn Fn() -> Place + Sync)) {
    let lives: u64 = env::var("TASK_KILLS").map_or(0, |lives| lives.parse().unwrap());
    let next = AtomicU64::new(0);
    let ends = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| live_at_random(place, &next, lives)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    println!("{lives} lives with random kills: {ends:?}");
}

fn live_at_random(place: &(dyn Fn() -> Place + Sync), next: &AtomicU64, lives: u64) -> Ends {
    let mut ends = Ends::default();
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= lives {
            return ends;
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let tool = TOOLS[random.usize(..TOOLS.len())];
        let kills = [random.u64(1..32), random.u64(1..24)];
        let life = live(&place(), tool, &kills);
        check(tool, &kills, &life);
        ends.count(&life.end);
    }
}

/// Files in one directory, one for each life.
fn sqlite_places(directory: &TempDir) -> impl Fn() -> Place + Sync {
    let number = AtomicU64::new(0);
    let directory = directory.path().to_owned();
    move || {
        let path = directory.join(format!("{}.db", number.fetch_add(1, Ordering::Relaxed)));
        Place {
            name: path.display().to_string(),
            store: Box::new(move || {
                Arc::new(SqliteStore::open(&path).unwrap()) as Arc<dyn TaskStore>
            }),
        }
    }
}

#[test]
fn sqlite_loses_and_doubles_nothing() {
    // A killed process loses nothing of a file system in memory either, and a busy disk would take minutes.
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let directory = directory.unwrap();
    let places = sqlite_places(&directory);
    check_each_point(&places);
    check_random_points(&places);
}

#[test]
fn tasks_in_memory_are_unknown_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let effects = directory.path().join("effects");
    // Within the first step.
    let mut worker = Worker::start("memory", &effects, 8);
    let called = worker.request("tools/call", json!({"name": "order", "arguments": {}}));
    let id = called.map(|called| called["result"]["taskId"].as_str().unwrap().to_owned());
    if id.is_some() {
        while worker.request("tasks/get", json!({"taskId": id})).is_some() {}
    }
    worker.reap();
    let mut worker = Worker::start("memory", &effects, 0);
    let id = id.unwrap_or_else(|| "AAAAAAAAAAAAAAAAAAAAAA".to_owned());
    let answer = worker.request("tasks/get", json!({"taskId": id})).unwrap();
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(!worker.stop());
    let effects = std::fs::read_to_string(effects).unwrap();
    assert_eq!(effects.lines().count(), 1, "{effects}");
}
