//! Two processes with one store. Each child process is this test binary again, restricted to one test.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;
use crate::Secret;

const DIRECTORY: &str = "TREENAIL_TEST_STORE";
const ROUNDS: usize = 40;

fn key() -> StoreKey {
    StoreKey::server("https://example.com/mcp")
}

fn open(directory: &Path) -> FileStore {
    let builder = FileStore::builder("planner").directory(directory);
    builder.key_file().open().expect("a store")
}

/// Starts a test of this file in another process.
fn child(test: &str, directory: &Path) -> Child {
    let name = format!("client::store::file::processes::{test}");
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", &name, "--nocapture"])
        .env(DIRECTORY, directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// Returns the store of the parent process; `None` if there is no parent, and thus nothing to do.
fn of_parent() -> Option<FileStore> {
    std::env::var_os(DIRECTORY).map(|directory| open(Path::new(&directory)))
}

async fn count(store: &FileStore) -> usize {
    let entry = store.load(&key()).await.expect("loaded");
    entry.map_or(0, |entry| entry.text.expose().parse().expect("a number"))
}

#[tokio::test]
async fn child_that_counts() {
    let Some(store) = of_parent() else { return };
    for _ in 0..ROUNDS {
        let lock = store.lock(&key()).await.expect("a lock");
        let next = count(&store).await + 1;
        let generation = Generation::random().expect("random bytes");
        let entry = StoredEntry::new(generation, Secret::from(next.to_string()));
        store.store(&key(), entry).await.expect("stored");
        drop(lock);
    }
}

#[tokio::test]
async fn child_that_waits_with_a_lock() {
    let Some(store) = of_parent() else { return };
    let _lock = store.lock(&key()).await.expect("a lock");
    writeln!(std::io::stdout(), "\nlocked").expect("written");
    // Ends with the parent at the latest.
    let _ = std::io::stdin().lines().next();
}

// AUTH-C-116, AUTH-X-15
#[tokio::test]
async fn two_processes_that_create_one_store_never_lose_an_update() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = parent.path().join("tokens");
    let children = [(); 2].map(|()| child("child_that_counts", &directory));
    for child in children {
        assert!(child.wait_with_output().expect("an end").status.success());
    }
    assert_eq!(count(&open(&directory)).await, 2 * ROUNDS);
}

// AUTH-X-15
#[tokio::test]
async fn the_end_of_a_process_releases_its_locks() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = parent.path().join("tokens");
    let mut child = child("child_that_waits_with_a_lock", &directory);
    let output = BufReader::new(child.stdout.take().expect("piped"));
    let is_locked = |line: &String| line == "locked";
    assert!(
        output
            .lines()
            .map_while(Result::ok)
            .any(|line| is_locked(&line))
    );
    let store = open(&directory);
    let lock = evict::lock_name(&entry_name(&key()));
    let held = store.shared.directory.try_lock(&lock).expect("no error");
    assert!(held.is_none());
    child.kill().expect("killed");
    child.wait().expect("an end");
    drop(store.lock(&key()).await.expect("a lock"));
}
