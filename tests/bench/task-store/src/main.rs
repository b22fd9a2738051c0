//! Creations of tasks per second in a file of SQLite, beside the same rows written by hand.
//!
//! `task-store DIRECTORY` prints a table with the medians of some rounds. It makes its files in a directory of the disk that is
//! measured. The rows by hand are committed with the same durability (`WAL`, `synchronous=FULL`), one by one and in groups as large
//! as the number of concurrent creations.

mod bare;

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use treenail::tasks::{SqliteStore, StoredTask, TaskId, TaskStore};

/// Rows of one measurement.
const ROWS: u64 = 5_000;
/// Size of a state in bytes.
const STATE: usize = 300;
/// Size of a body in bytes.
const BODY: usize = 500;
/// Concurrent creations.
const CONCURRENT: u64 = 64;
const ROUNDS: usize = 5;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let directory = env::args().nth(1).ok_or("usage: task-store DIRECTORY")?;
    let directory = tempfile::tempdir_in(directory)?;
    let mut rates: [Vec<f64>; 4] = Default::default();
    for round in 0..ROUNDS {
        let path = |name: &str| -> PathBuf { directory.path().join(format!("{name}{round}.db")) };
        rates[0].push(create(&path("store"), CONCURRENT).await?);
        rates[1].push(bare::write(&path("groups"), CONCURRENT)?);
        rates[2].push(create(&path("single"), 1).await?);
        rates[3].push(bare::write(&path("one-by-one"), 1)?);
    }
    let [store, groups, single, one_by_one] = rates.map(median);
    println!("| at a time | program | tasks/s | × by hand |\n|---|---|---|---|");
    for (count, ours, by_hand) in [(CONCURRENT, store, groups), (1, single, one_by_one)] {
        println!("| {count} | rusqlite, by hand | {by_hand:.0} | 1.00 |");
        let ratio = ours / by_hand;
        println!("| {count} | `SqliteStore` | {ours:.0} | {ratio:.2} |");
    }
    Ok(())
}

/// Returns the tasks that a store creates per second.
async fn create(path: &Path, concurrent: u64) -> Outcome<f64> {
    let store = SqliteStore::open(path)?;
    let created = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let mut creating = JoinSet::new();
    for _ in 0..concurrent {
        let (store, created) = (store.clone(), Arc::clone(&created));
        creating.spawn(async move {
            loop {
                let number = created.fetch_add(1, Ordering::Relaxed);
                if number >= ROWS {
                    return Outcome::Ok(());
                }
                let mut task = StoredTask::new(TaskId::random()?, "owner", number, [b'1'; BODY]);
                task.state = vec![b'1'; STATE];
                store.insert(task, Duration::from_secs(30)).await?;
            }
        });
    }
    for created in creating.join_all().await {
        created?;
    }
    Ok(rate(start))
}

#[allow(clippy::cast_precision_loss, reason = "the number is small")]
fn rate(start: Instant) -> f64 {
    ROWS as f64 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
