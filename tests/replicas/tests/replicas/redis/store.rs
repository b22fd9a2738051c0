//! Task store in a real Redis.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use treenail::tasks::{
    RedisStore, StoreError, StoreUsage, StoredTask, TaskId, TaskStore, test_kit,
};

use super::redis_server::{PASSWORD, RedisServer};
use crate::log::Log;
use crate::stores::{HOUR, check_separate, task};

/// Arguments for a Redis that loses nothing.
pub(super) const DURABLE: &[&str] = &["--appendonly", "yes", "--appendfsync", "always"];

fn store(redis: &RedisServer) -> RedisStore {
    RedisStore::new(redis.url()).unwrap().server("hotel")
}

fn task_key(task: &StoredTask) -> Vec<u8> {
    format!("{{treenail:hotel}}:task:{}", task.id.as_str()).into()
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn every_rule_of_stores_holds() {
    let redis = RedisServer::start();
    let number = Cell::new(0);
    let open = || {
        let store = store(&redis).server(format!("{} {{demo}}", number.get()));
        Arc::new(store) as Arc<dyn TaskStore>
    };
    test_kit::check_store(async || {
        number.set(number.get() + 1);
        open()
    })
    .await;
    test_kit::check_shared_store(async || {
        number.set(number.get() + 1);
        [open(), open()]
    })
    .await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn removed_tasks_leave_nothing() {
    let redis = RedisServer::start();
    let store = store(&redis);
    let task = task("owner", 1, b"1");
    store.insert(task.clone(), HOUR).await.unwrap();
    assert_eq!(redis.command(&[b"DBSIZE"]), ":4\r\n");
    assert_eq!(store.remove(&task.id, 1).await, Ok(true));
    assert_eq!(redis.command(&[b"DBSIZE"]), ":0\r\n");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn evicted_tasks_leave_nothing() {
    let redis = RedisServer::start();
    let store = store(&redis);
    let mut tasks = Vec::new();
    for created_ms in 0..3 {
        let task = task("owner: 7", created_ms, b"12345");
        store.insert(task.clone(), Duration::ZERO).await.unwrap();
        tasks.push(task);
    }
    let mut longer = tasks[0].clone();
    (longer.version, longer.body) = (2, b"12345678".as_slice().into());
    store.replace(longer, Duration::ZERO).await.unwrap();
    let before = store.usage("owner: 7").await.unwrap();
    redis.command(&[b"DEL", &task_key(&tasks[0])]);
    assert_eq!(store.due(10).await.map(|due| due.len()), Ok(2));
    let usage = store.usage("owner: 7").await.unwrap();
    let other = store.get(&tasks[1].id).await.unwrap().unwrap();
    let bytes = (other.state.len() + other.body.len()) as u64;
    assert_eq!((usage.tasks, usage.bytes), (2, 2 * bytes));
    assert_eq!(before.tasks, 3);
    for task in &tasks[1..] {
        redis.command(&[b"DEL", &task_key(task)]);
    }
    assert_eq!(store.list("owner: 7", None, 10).await, Ok(Vec::new()));
    assert_eq!(redis.command(&[b"DBSIZE"]), ":0\r\n");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn evicted_counters_count_new_tasks_only() {
    let redis = RedisServer::start();
    let store = store(&redis);
    let tasks = [1, 2, 3].map(|created_ms| task("owner", created_ms, b"12345"));
    for task in &tasks[..2] {
        store.insert(task.clone(), HOUR).await.unwrap();
    }
    redis.command(&[b"DEL", b"{treenail:hotel}:usage"]);
    let mut shorter = tasks[0].clone();
    (shorter.version, shorter.body) = (2, b"1".to_vec());
    assert_eq!(store.replace(shorter, HOUR).await, Ok(true));
    assert_eq!(store.usage("owner").await, Ok(StoreUsage::default()));
    store.insert(tasks[2].clone(), HOUR).await.unwrap();
    for (task, version) in [(&tasks[0], 2), (&tasks[1], 1)] {
        assert_eq!(store.remove(&task.id, version).await, Ok(true));
        assert_eq!(store.usage("owner").await, Ok(StoreUsage::new(1, 5)));
    }
    assert_eq!(store.remove(&tasks[2].id, 1).await, Ok(true));
    assert_eq!(redis.command(&[b"DBSIZE"]), ":0\r\n");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn servers_with_other_names_have_other_tasks() {
    let redis = RedisServer::start();
    let (here, there) = (store(&redis), store(&redis).server("weather"));
    check_separate(&here, &there).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn tasks_survive_a_killed_redis_with_an_append_only_file() {
    let mut redis = RedisServer::start_with(DURABLE);
    let store = store(&redis);
    let mut stored = Vec::new();
    for created_ms in 0..20 {
        let task = task("owner", created_ms, b"1");
        store.insert(task.clone(), Duration::ZERO).await.unwrap();
        stored.push(task);
    }
    redis.stop();
    let lost = store.get(&stored[0].id).await.unwrap_err();
    let reason = "the task store is unavailable: Redis cannot be reached";
    assert!(lost.to_string().starts_with(reason), "{lost}");
    redis.resume();
    assert_eq!(store.list("owner", None, 100).await, Ok(stored.clone()));
    assert_eq!(store.due(100).await.map(|due| due.len()), Ok(20));
    assert_eq!(store.usage("owner").await.map(|usage| usage.tasks), Ok(20));
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_lost_connection_is_replaced() {
    let redis = RedisServer::start();
    let store = store(&redis);
    let task = task("owner", 1, b"1");
    store.insert(task.clone(), HOUR).await.unwrap();
    for _ in 0..3 {
        redis.command(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
        assert_eq!(store.get(&task.id).await, Ok(Some(task.clone())));
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_redis_without_memory_is_full() {
    let redis = RedisServer::start();
    let store = store(&redis);
    let task = task("owner", 1, b"1");
    store.insert(task.clone(), HOUR).await.unwrap();
    redis.command(&[b"CONFIG", b"SET", b"maxmemory", b"1"]);
    let mut next = task.clone();
    next.version = 2;
    let mut longer = next.clone();
    longer.body.push(b'1');
    let full = StoreError::Full("Redis has reached its `maxmemory`".to_owned());
    assert_eq!(store.replace(longer, HOUR).await, Err(full.clone()));
    let mut other = task.clone();
    other.id = TaskId::random().unwrap();
    assert_eq!(store.insert(other, HOUR).await, Err(full));
    assert_eq!(store.get(&task.id).await, Ok(Some(task.clone())));
    assert_eq!(store.usage("owner").await, Ok(StoreUsage::new(1, 1)));
    assert_eq!(
        store.replace(next.clone(), Duration::ZERO).await,
        Ok(true),
        "a renewal of a lease needs no memory"
    );
    assert_eq!(store.due(10).await, Ok(vec![next.clone()]));
    (next.version, next.body) = (3, Vec::new());
    assert_eq!(store.replace(next.clone(), HOUR).await, Ok(true));
    assert_eq!(store.due(10).await, Ok(Vec::new()));
    assert_eq!(store.get(&task.id).await, Ok(Some(next)));
    assert_eq!(store.usage("owner").await, Ok(StoreUsage::new(1, 0)));
    assert_eq!(
        store.remove(&task.id, 3).await,
        Ok(true),
        "a removal needs no memory"
    );
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_redis_without_persistence_is_reported() {
    let (log, _guard) = Log::record();
    let redis = RedisServer::start();
    store(&redis).due(1).await.unwrap();
    assert!(log.text().contains("tasks end with it"), "{}", log.text());
    redis.command(&[b"CONFIG", b"SET", b"maxmemory", b"100mb"]);
    redis.command(&[b"CONFIG", b"SET", b"maxmemory-policy", b"allkeys-lru"]);
    redis.command(&[b"CONFIG", b"SET", b"save", b"3600 1"]);
    store(&redis).due(1).await.unwrap();
    assert!(
        log.text().contains("since its last snapshot"),
        "{}",
        log.text()
    );
    assert!(log.text().contains("may evict tasks"), "{}", log.text());
    assert!(!log.text().contains(PASSWORD));
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_redis_that_loses_nothing_is_not_reported() {
    let (log, _guard) = Log::record();
    let redis = RedisServer::start_with(DURABLE);
    let store = store(&redis);
    store.due(1).await.unwrap();
    assert_eq!(log.text(), "");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn damaged_records_hide_no_others() {
    let (log, _guard) = Log::record();
    let redis = RedisServer::start();
    let store = store(&redis);
    let mut tasks = Vec::new();
    for created_ms in 0..40 {
        let task = task("owner", created_ms, b"1");
        store.insert(task.clone(), Duration::ZERO).await.unwrap();
        tasks.push(task);
    }
    let last = tasks.pop().unwrap();
    for (number, task) in tasks.iter().enumerate() {
        let key = task_key(task);
        match number % 4 {
            0 => redis.command(&[b"HDEL", &key, b"b"]),
            1 => redis.command(&[b"HSET", &key, b"v", b"-1"]),
            2 => redis.command(&[b"HSET", &key, b"o", b"\xff"]),
            _ => redis.command(&[b"DEL", &key]),
        };
    }
    assert_eq!(store.due(1).await, Ok(vec![last.clone()]));
    assert_eq!(store.list("owner", None, 1).await, Ok(vec![last.clone()]));
    assert!(log.text().contains("damaged records"), "{}", log.text());
    for (number, task) in tasks.iter().enumerate() {
        let found = store.get(&task.id).await;
        let reason = "a record is damaged".to_owned();
        let expected = match number % 4 {
            3 => Ok(None),
            _ => Err(StoreError::Other(reason)),
        };
        assert_eq!(found, expected, "{number}");
    }
    // The entries of the records that do not exist are gone.
    let remaining = redis.command(&[b"ZCARD", b"{treenail:hotel}:due"]);
    assert_eq!(remaining, ":31\r\n");
    let remaining = redis.command(&[b"ZCARD", b"{treenail:hotel}:order"]);
    assert_eq!(remaining, ":31\r\n");
    for kind in [&b"due"[..], b"order", b"usage"] {
        let key = [b"{treenail:hotel}:", kind].concat();
        redis.command(&[b"DEL", &key]);
        redis.command(&[b"SET", &key, b"1"]);
    }
    let wrong = StoreError::Other("Redis returned the error WRONGTYPE".to_owned());
    assert_eq!(store.due(1).await, Err(wrong.clone()));
    assert_eq!(store.list("owner", None, 1).await, Err(wrong.clone()));
    assert_eq!(store.usage("owner").await, Err(wrong));
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn long_bodies_are_refused_and_not_read() {
    let redis = RedisServer::start();
    let (long, short) = (store(&redis), store(&redis).max_body_bytes(100_000));
    let stored = task("owner", 1, &vec![b'1'; 200_000]);
    let reason = "the state or the body of a task has more than 100000 bytes".to_owned();
    let refused = short.insert(stored.clone(), HOUR).await;
    assert_eq!(refused, Err(StoreError::Full(reason)));
    long.insert(stored.clone(), Duration::ZERO).await.unwrap();
    let next = task("owner", 2, &vec![b'1'; 100_000]);
    long.insert(next.clone(), Duration::ZERO).await.unwrap();
    let reason = "a record is damaged".to_owned();
    assert_eq!(short.get(&stored.id).await, Err(StoreError::Other(reason)));
    assert_eq!(short.due(10).await, Ok(vec![next]));
    assert_eq!(long.get(&stored.id).await, Ok(Some(stored)));
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn tasks_of_the_longest_owner_are_listed() {
    let redis = RedisServer::start();
    let store = store(&redis).max_body_bytes(1_000);
    let owner = "o".repeat(60 << 10);
    let stored = task(&owner, 1, b"1");
    store.insert(stored.clone(), HOUR).await.unwrap();
    assert_eq!(store.list(&owner, None, 2).await, Ok(vec![stored]));
    let refused = store.insert(task(&(owner + "o"), 1, b"1"), HOUR).await;
    let reason = "the owner of a task has more than 61440 bytes".to_owned();
    assert_eq!(refused, Err(StoreError::Full(reason)));
}
