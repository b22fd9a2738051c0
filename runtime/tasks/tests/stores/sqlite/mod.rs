//! The store in a file of SQLite.

mod damage;
mod failure;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tokio::task::JoinSet;
use treenail::tasks::{SqliteStore, StoredTask, TaskId, TaskStore, test_kit};

pub(crate) const HOUR: Duration = Duration::from_secs(3_600);

/// Directory for the file of a store.
pub(crate) struct Directory(TempDir);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("tasks.db")
    }

    pub(crate) fn open(&self) -> SqliteStore {
        SqliteStore::open(self.path()).unwrap()
    }

    /// Opens the file as another program.
    pub(crate) fn connect(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }
}

pub(crate) fn task(owner: &str, created_ms: u64, body: &[u8]) -> StoredTask {
    StoredTask::new(TaskId::random().unwrap(), owner, created_ms, body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_rule_of_stores_holds() {
    let directories = tempfile::tempdir().unwrap();
    let mut number = 0;
    let paths: Vec<PathBuf> = std::iter::from_fn(|| {
        number += 1;
        Some(directories.path().join(number.to_string()))
    })
    .take(100)
    .collect();
    let paths = std::sync::Mutex::new(paths);
    test_kit::check_store(async || {
        let path = paths.lock().unwrap().pop().unwrap();
        Arc::new(SqliteStore::open(path).unwrap()) as Arc<dyn TaskStore>
    })
    .await;
    test_kit::check_shared_store(async || {
        let path = paths.lock().unwrap().pop().unwrap();
        [(); 2].map(|()| Arc::new(SqliteStore::open(&path).unwrap()) as Arc<dyn TaskStore>)
    })
    .await;
}

#[test]
fn a_new_file_can_be_opened_many_times_at_once() {
    for _ in 0..10 {
        let (directory, together) = (Directory::new(), Barrier::new(8));
        let open = || {
            together.wait();
            SqliteStore::open(directory.path()).map(drop)
        };
        let opened = thread::scope(|scope| {
            let opening = [(); 8].map(|()| scope.spawn(open));
            opening.map(|opening| opening.join().unwrap())
        });
        assert_eq!(opened, [const { Ok(()) }; 8]);
    }
}

#[tokio::test]
async fn tasks_are_there_after_the_file_is_opened_again() {
    let directory = Directory::new();
    let task = task("owner", 1, b"1");
    directory
        .open()
        .insert(task.clone(), Duration::ZERO)
        .await
        .unwrap();
    let store = directory.open();
    assert_eq!(store.get(&task.id).await, Ok(Some(task.clone())));
    assert_eq!(store.list("owner", None, 10).await, Ok(vec![task.clone()]));
    assert_eq!(store.due(10).await, Ok(vec![task]));
}

#[cfg(unix)]
#[tokio::test]
async fn new_files_are_accessible_to_their_user_only() {
    use std::os::unix::fs::PermissionsExt;

    let directory = Directory::new();
    let store = directory.open();
    store.insert(task("owner", 1, b"1"), HOUR).await.unwrap();
    let files = std::fs::read_dir(directory.path().parent().unwrap()).unwrap();
    let mut modes: Vec<_> = files
        .map(|file| {
            let file = file.unwrap();
            let mode = file.metadata().unwrap().permissions().mode();
            (file.file_name().into_string().unwrap(), mode & 0o777)
        })
        .collect();
    modes.sort();
    let expected = ["tasks.db", "tasks.db-shm", "tasks.db-wal"];
    assert_eq!(modes, expected.map(|name| (name.to_owned(), 0o600)));
}

/// Returns whether the process has a lock on the file.
#[cfg(target_os = "linux")]
fn is_locked(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let inode = format!(":{} ", std::fs::metadata(path).unwrap().ino());
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    locks.lines().any(|lock| lock.contains(&inode))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_second_store_leaves_the_lock_of_the_first() {
    let directory = Directory::new();
    let first = directory.open();
    first.insert(task("owner", 1, b"1"), HOUR).await.unwrap();
    assert!(is_locked(&directory.path()));
    let second = directory.open();
    assert!(is_locked(&directory.path()), "after the second was opened");
    // The thread of the second closes its file after that.
    second.insert(task("owner", 2, b"2"), HOUR).await.unwrap();
    drop(second);
    first.insert(task("owner", 3, b"3"), HOUR).await.unwrap();
    assert!(is_locked(&directory.path()), "while the second is closed");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_a_missing_file_creates_it() {
    let directory = Directory::new();
    let link = directory.path().with_file_name("link.db");
    std::os::unix::fs::symlink(directory.path(), &link).unwrap();
    let store = SqliteStore::open(link).unwrap();
    store.insert(task("owner", 1, b"1"), HOUR).await.unwrap();
    assert_eq!(directory.open().usage("owner").await.unwrap().tasks, 1);
}

/// Counts the commits in the write-ahead log of a file.
fn commits(path: &Path) -> usize {
    let mut log = Vec::new();
    let path = path.with_file_name("tasks.db-wal");
    File::open(path).unwrap().read_to_end(&mut log).unwrap();
    // A header of 32 bytes, then pages of 4,096 bytes with headers of 24, whose second word is not zero on a commit.
    let frames = log[32..].chunks_exact(24 + 4_096);
    frames.filter(|frame| frame[4..8] != [0; 4]).count()
}

#[tokio::test]
async fn changes_that_wait_together_share_a_commit() {
    let directory = Directory::new();
    let store = directory.open();
    let before = commits(&directory.path());
    let other = directory.connect();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut inserting = JoinSet::new();
    for created_ms in 0..200 {
        let (store, task) = (store.clone(), task("owner", created_ms, b"1"));
        inserting.spawn(async move { store.insert(task, HOUR).await });
    }
    // All of them are in the queue of the writer once each task has been polled, which a task behind them shows.
    tokio::spawn(async {}).await.unwrap();
    other.execute_batch("ROLLBACK").unwrap();
    for inserted in inserting.join_all().await {
        inserted.unwrap();
    }
    let commits = commits(&directory.path()) - before;
    assert!((1..=3).contains(&commits), "{commits} commits");
    assert_eq!(store.usage("owner").await.unwrap().tasks, 200);
}

#[tokio::test]
async fn a_store_is_used_from_another_runtime_after_its_first_has_ended() {
    let directory = Directory::new();
    let store = directory.open();
    let task = task("owner", 1, b"1");
    let (first, inserted) = (store.clone(), task.clone());
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(first.insert(inserted, HOUR)).unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(store.get(&task.id).await, Ok(Some(task)));
}
