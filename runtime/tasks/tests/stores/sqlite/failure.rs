//! Files that cannot be opened, locks, and full disks.

use std::fs;
use std::time::Duration;

use tokio::task::JoinSet;
use treenail::tasks::{SqliteStore, StoreError, StoredTask, TaskStore};

use super::{Directory, HOUR, task};

fn open_error(directory: &Directory) -> String {
    let error = SqliteStore::open(directory.path()).unwrap_err();
    let message = error.to_string();
    let path = directory.path().display().to_string();
    assert!(message.contains(&path), "{message}");
    message.replace(&path, "PATH")
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let directory = Directory::new();
    drop(directory.open());
    directory
        .connect()
        .execute_batch("PRAGMA user_version = 7")
        .unwrap();
    assert_eq!(
        open_error(&directory),
        "the task store failed: `PATH`: the file has version 7 of the task store, and this program supports version 1; use a \
         newer program or another file"
    );
}

#[test]
fn a_database_of_another_program_is_refused() {
    for tables in [
        "CREATE TABLE t (x)",
        "PRAGMA user_version = 1",
        "PRAGMA application_id = 5",
    ] {
        let directory = Directory::new();
        directory.connect().execute_batch(tables).unwrap();
        let before = fs::read(directory.path()).unwrap();
        assert_eq!(
            open_error(&directory),
            "the task store failed: `PATH`: the file is a database of another program; use another file",
            "{tables}"
        );
        let after = fs::read(directory.path()).unwrap();
        assert!(before == after, "the file was changed: {tables}");
    }
}

#[test]
fn other_files_are_refused() {
    let directory = Directory::new();
    fs::write(directory.path(), "Milk\nBread\n".repeat(1_000)).unwrap();
    assert_eq!(
        open_error(&directory),
        "the task store failed: `PATH`: the file is not a database of SQLite"
    );
    fs::remove_file(directory.path()).unwrap();
    fs::create_dir(directory.path()).unwrap();
    assert!(open_error(&directory).starts_with("the task store is unavailable: `PATH`: "));
    let missing = directory.path().join("missing/tasks.db");
    assert!(matches!(
        SqliteStore::open(missing),
        Err(StoreError::Unavailable(_))
    ));
    for path in ["", ":memory:"] {
        let error = SqliteStore::open(path).unwrap_err().to_string();
        assert!(
            error.ends_with("`MemoryStore` stores tasks in memory"),
            "{error}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_to_write_is_unavailable() {
    use std::os::unix::fs::PermissionsExt;

    let directory = Directory::new();
    drop(directory.open());
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o400)).unwrap();
    // The superuser may write to any file.
    if fs::OpenOptions::new()
        .write(true)
        .open(directory.path())
        .is_err()
    {
        assert!(open_error(&directory).starts_with("the task store is unavailable: `PATH`: "));
    }
}

#[tokio::test]
async fn the_lock_of_another_process_is_awaited_for_a_time() {
    let directory = Directory::new();
    let store = SqliteStore::builder().lock_timeout(Duration::from_millis(1));
    let store = store.open(directory.path()).unwrap();
    let task = task("owner", 1, b"1");
    let other = directory.connect();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let reason = "another process has locked the file for too long".to_owned();
    let inserted = store.insert(task.clone(), HOUR).await;
    assert_eq!(inserted, Err(StoreError::Unavailable(reason)));
    assert_eq!(store.get(&task.id).await, Ok(None), "queries need no lock");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.insert(task, HOUR).await, Ok(()));
}

#[tokio::test]
async fn the_longest_lock_timeout_is_that_of_sqlite() {
    let directory = Directory::new();
    let store = SqliteStore::builder().lock_timeout(Duration::MAX);
    let store = store.open(directory.path()).unwrap();
    assert_eq!(store.due(1).await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_full_file_refuses_tasks_until_others_are_removed() {
    let directory = Directory::new();
    let store = SqliteStore::builder()
        .max_bytes(256 << 10)
        .open(directory.path())
        .unwrap();
    let body = vec![b'1'; 10_000];
    let mut stored = Vec::new();
    let error = loop {
        let task = task("owner", 1, &body);
        match store.insert(task.clone(), HOUR).await {
            Ok(()) => stored.push(task),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full(_)), "{error}");
    assert!((10..26).contains(&stored.len()), "{} tasks", stored.len());
    assert_eq!(
        store.usage("owner").await.unwrap().tasks,
        stored.len() as u64
    );
    let mut longer = stored[0].clone();
    longer.version = 2;
    longer.body = vec![b'2'; 100_000];
    assert!(matches!(
        store.replace(longer, HOUR).await,
        Err(StoreError::Full(_))
    ));
    assert_eq!(store.get(&stored[0].id).await, Ok(Some(stored[0].clone())));
    let mut ended = stored[0].clone();
    ended.version = 2;
    ended.body = b"ended".to_vec();
    assert_eq!(
        store.replace(ended, HOUR).await,
        Ok(true),
        "a shorter body has space"
    );
    assert_eq!(store.remove(&stored[1].id, 1).await, Ok(true));
    assert_eq!(store.insert(stored[1].clone(), HOUR).await, Ok(()));
}

/// Inserts tasks until the file is full.
async fn fill(store: &SqliteStore, body: &[u8], tasks: &mut Vec<StoredTask>) {
    loop {
        let task = task("owner", 1, body);
        match store.insert(task.clone(), HOUR).await {
            Ok(()) => tasks.push(task),
            Err(StoreError::Full(_)) => return,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn tasks_in_a_full_file_can_be_replaced_by_ones_of_their_size() {
    for (kib, bytes) in [(128, 100), (256, 10_000)] {
        let directory = Directory::new();
        let store = SqliteStore::builder()
            .max_bytes(kib << 10)
            .open(directory.path())
            .unwrap();
        let body = vec![b'1'; bytes];
        let mut tasks = Vec::new();
        // Tasks that are removed make space for others, which must not use the reserve.
        for round in 1..=2 {
            fill(&store, &body, &mut tasks).await;
            for task in &mut tasks {
                task.version += 1;
                let replaced = store.replace(task.clone(), HOUR * round).await;
                assert_eq!(replaced, Ok(true), "{bytes} bytes, round {round}");
            }
            let mut longer = tasks[0].clone();
            longer.version += 1;
            longer.body = vec![b'2'; 100_000];
            let replaced = store.replace(longer, HOUR).await;
            assert!(matches!(replaced, Err(StoreError::Full(_))), "{replaced:?}");
            for task in tasks.split_off(tasks.len() / 2) {
                let removed = store.remove(&task.id, task.version).await;
                assert_eq!(removed, Ok(true), "{bytes} bytes, round {round}");
            }
        }
    }
}

#[tokio::test]
async fn a_change_without_space_fails_alone() {
    let directory = Directory::new();
    let store = SqliteStore::builder()
        .max_bytes(1 << 20)
        .open(directory.path())
        .unwrap();
    let other = directory.connect();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut inserting = JoinSet::new();
    let duplicate = task("owner", 0, b"1");
    for number in 0..30 {
        let store = store.clone();
        let task = match number % 3 {
            0 => task("owner", 1, b"1"),
            1 => duplicate.clone(),
            _ => task("owner", 1, &vec![b'1'; 2 << 20]),
        };
        inserting.spawn(async move { (number, store.insert(task, HOUR).await) });
    }
    tokio::spawn(async {}).await.unwrap();
    other.execute_batch("ROLLBACK").unwrap();
    let mut inserted = 0;
    for (number, result) in inserting.join_all().await {
        match (number % 3, result) {
            (0 | 1, Ok(())) => inserted += 1,
            (1, Err(StoreError::Duplicate)) | (2, Err(StoreError::Full(_))) => {}
            (_, result) => panic!("{number}: {result:?}"),
        }
    }
    assert_eq!(inserted, 11);
    assert_eq!(store.usage("owner").await.unwrap().tasks, 11);
}

#[tokio::test]
async fn a_relative_path_is_that_of_the_opened_file() {
    let directories = [Directory::new(), Directory::new()];
    let folder = |index: usize| directories[index].path().parent().unwrap().to_owned();
    let other = directories[1].open();
    other
        .insert(task("owner", 1, b"2"), Duration::ZERO)
        .await
        .unwrap();
    // The other tests use absolute paths.
    let before = std::env::current_dir().unwrap();
    std::env::set_current_dir(folder(0)).unwrap();
    let store = SqliteStore::open("tasks.db").unwrap();
    std::env::set_current_dir(folder(1)).unwrap();
    let stored = task("owner", 1, b"1");
    store.insert(stored.clone(), Duration::ZERO).await.unwrap();
    let found = (store.get(&stored.id).await, store.due(10).await);
    std::env::set_current_dir(before).unwrap();
    assert_eq!(found, (Ok(Some(stored.clone())), Ok(vec![stored])));
}
