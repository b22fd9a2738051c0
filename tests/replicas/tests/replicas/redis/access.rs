//! Access to a Redis: its credentials, and the permissions that a task store needs.

use std::time::Duration;

use treenail::tasks::{RedisStore, StoreError, TaskStore};

use super::redis_server::{PASSWORD, RedisServer};
use crate::log::Log;
use crate::stores::{HOUR, task};

#[tokio::test]
#[ignore = "needs redis-server"]
async fn errors_contain_no_credentials() {
    let redis = RedisServer::start();
    for password in ["opensesame", "open%20sesame"] {
        let url = redis.url().replace(PASSWORD, password);
        let store = RedisStore::new(url).unwrap();
        let error = store.due(1).await.unwrap_err();
        let reason = "Redis refuses the name or password".to_owned();
        assert_eq!(error, StoreError::Unavailable(reason));
        assert!(!format!("{store:?}").contains("sesame"));
    }
    let error = RedisStore::new("redis://name:sesame@[").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("sesame"), "{error}");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn the_documented_commands_are_enough() {
    let (log, _guard) = Log::record();
    let redis = RedisServer::start();
    let mut user: Vec<&[u8]> = vec![b"ACL", b"SETUSER", b"tasks", b"on", b">sesame"];
    user.extend([
        &b"~{treenail:hotel}:*"[..],
        b"-@all",
        b"+eval",
        b"+exists",
        b"+hdel",
        b"+hget",
    ]);
    user.extend([
        &b"+hincrby"[..],
        b"+hmget",
        b"+hset",
        b"+hstrlen",
        b"+time",
        b"+unlink",
    ]);
    user.extend([&b"+zadd"[..], b"+zrangebylex", b"+zrangebyscore", b"+zrem"]);
    assert_eq!(redis.command(&user), "+OK\r\n");
    let url = redis
        .url()
        .replace(&format!("pass={PASSWORD}"), "user=tasks&pass=sesame");
    let store = RedisStore::new(url).unwrap().server("hotel");
    let first = task("owner", 1, b"1");
    let mut second = first.clone();
    second.version = 2;
    store.insert(first.clone(), HOUR).await.unwrap();
    assert_eq!(
        store.replace(second.clone(), Duration::ZERO).await,
        Ok(true)
    );
    assert_eq!(store.due(10).await, Ok(vec![second.clone()]));
    let mut polled = second.clone();
    polled.body.clear();
    assert_eq!(store.state(&first.id).await, Ok(Some(polled)));
    assert_eq!(store.list("owner", None, 10).await, Ok(vec![second]));
    assert_eq!(store.usage("owner").await.map(|usage| usage.bytes), Ok(1));
    assert_eq!(store.remove(&first.id, 2).await, Ok(true));
    let forbidden = store.server("weather").due(1).await.unwrap_err();
    assert!(
        forbidden.to_string().contains("lacks a permission"),
        "{forbidden}"
    );
    // `CONFIG` is not allowed, so nothing is known of the persistence.
    assert_eq!(log.text(), "");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_database_number_needs_its_command() {
    let redis = RedisServer::start();
    let user = |permission: &[u8]| {
        let user: [&[u8]; 7] = [
            b"ACL", b"SETUSER", b"tasks", b"on", b">sesame", b"~*", permission,
        ];
        assert_eq!(redis.command(&user), "+OK\r\n");
    };
    user(b"+@all");
    user(b"-select");
    let credentials = "db=1&user=tasks&pass=sesame";
    let url = redis
        .url()
        .replace(&format!("pass={PASSWORD}"), credentials);
    let store = RedisStore::new(url).unwrap();
    let refused = store.due(1).await.unwrap_err().to_string();
    assert!(refused.contains("`SELECT`"), "{refused}");
    user(b"+select");
    assert_eq!(store.due(1).await, Ok(Vec::new()));
}
