//! Damaged records and files.

use std::fs;
use std::time::Duration;

use treenail::tasks::{SqliteStore, StoreError, TaskStore};

use super::{Directory, HOUR, task};

#[tokio::test]
async fn damaged_records_hide_no_others() {
    let directory = Directory::new();
    let store = directory.open();
    let mut tasks = Vec::new();
    for created_ms in 0..6 {
        let task = task("owner", created_ms, b"1");
        store.insert(task.clone(), Duration::ZERO).await.unwrap();
        tasks.push(task);
    }
    let other = directory.connect();
    for (index, damage) in [
        (0, "id = 'x'"),
        (1, "version = -1"),
        (2, "created_ms = -5"),
        (3, "owner = CAST(x'ff' AS TEXT)"),
        (4, "id = CAST(x'ff' AS TEXT)"),
    ] {
        let update = format!(
            "UPDATE task SET {damage} WHERE id = '{}'",
            tasks[index].id.as_str()
        );
        assert_eq!(other.execute(&update, []), Ok(1), "{damage}");
    }
    let last = tasks.pop().unwrap();
    assert_eq!(store.due(1).await, Ok(vec![last.clone()]));
    assert_eq!(store.list("owner", None, 1).await, Ok(vec![last.clone()]));
    for damaged in &tasks[1..4] {
        let reason = "a record is damaged".to_owned();
        assert_eq!(store.get(&damaged.id).await, Err(StoreError::Other(reason)));
    }
    assert_eq!(store.get(&last.id).await, Ok(Some(last.clone())));
    assert_eq!(store.remove(&last.id, 1).await, Ok(true));
    other.execute_batch("UPDATE owner SET tasks = -4").unwrap();
    assert!(matches!(
        store.usage("owner").await,
        Err(StoreError::Other(_))
    ));
}

#[tokio::test]
async fn a_damaged_file_is_an_error_and_no_panic() {
    let directory = Directory::new();
    let store = directory.open();
    for created_ms in 0..20 {
        store
            .insert(task("owner", created_ms, &[b'1'; 2_000]), Duration::ZERO)
            .await
            .unwrap();
    }
    drop(store);
    directory
        .connect()
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let intact = fs::read(directory.path()).unwrap();
    for page in 0..intact.len() / 4_096 {
        for byte in [0x00, 0xff, 0x0d] {
            let mut damaged = intact.clone();
            damaged[page * 4_096..][..4_096].fill(byte);
            let path = directory.path().with_file_name(format!("{page}-{byte}.db"));
            fs::write(&path, damaged).unwrap();
            let Ok(store) = SqliteStore::open(&path) else {
                continue;
            };
            // Any result will do.
            let _ = store.due(1_000).await;
            let _ = store.list("owner", None, 1_000).await;
            let _ = store.usage("owner").await;
            let task = task("owner", 1, b"1");
            let _ = store.insert(task.clone(), HOUR).await;
            let _ = store.get(&task.id).await;
            let alive = store.remove(&task.id, 1).await;
            let ended = StoreError::Unavailable("its thread has ended".to_owned());
            assert_ne!(alive, Err(ended), "page {page}, byte {byte}");
        }
    }
}
