//! Replicas with an event bus over a real Redis.

mod access;
mod failover;
mod kill;
mod redis_server;
mod silence;
mod store;
mod subscription;
mod tls;
mod unresponsive;

use serde_json::{Value, json};

use self::redis_server::{PASSWORD, RedisServer};
use self::subscription::{Subscription, TOOLS};
use crate::process::Replica;
use crate::request::call;

const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn replicas(url: &str) -> [Replica; 2] {
    [0, 1].map(|_| Replica::start_with(KEY, Some(url)))
}

fn change(replica: &Replica, tool: &str, arguments: Value) {
    let answer = call(replica, tool, arguments, json!({}));
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete", "{answer}");
    assert_ne!(result["isError"], true, "{answer}");
}

/// Makes changes at one replica, and waits for the notification of each at the other.
///
/// Each change is repeated more often than the resync of a new connection could report it.
fn check_delivery(here: &Replica, other: &mut Subscription) {
    for _ in 0..3 {
        change(here, "write", json!({"id": 1}));
        other.wait_for("notes://1");
        change(here, "shut", json!({}));
        other.wait_for(TOOLS);
        change(here, "open", json!({}));
        other.wait_for(TOOLS);
    }
    // The last notification marks the end, so that none is left in the stream.
    change(here, "write", json!({"id": 2}));
    other.wait_for("notes://2");
}

#[test]
#[ignore = "needs redis-server"]
fn changes_are_reported_at_other_replicas() {
    let redis = RedisServer::start();
    let [here, there] = replicas(&redis.url());
    let mut own = Subscription::start(&here);
    let mut other = Subscription::start(&there);
    redis.wait_for_replicas(2);
    check_delivery(&here, &mut other);
    check_delivery(&there, &mut own);
    // A change of the registry affects only its own replica.
    change(&here, "shut", json!({}));
    other.wait_for(TOOLS);
    let book = |replica| call(replica, "book", json!({"city": "Oslo"}), json!({}));
    assert_eq!(book(&here)["error"]["code"], -32602);
    assert_eq!(book(&there)["result"]["resultType"], "input_required");
    // A replica publishes its events before it exits.
    change(&here, "write", json!({"id": 1}));
    let log = here.stop();
    other.wait_for("notes://1");
    for log in [log, there.stop()] {
        assert!(log.contains("the event bus is connected"), "{log}");
        assert!(!log.contains(PASSWORD), "a password is not logged: {log}");
        assert!(!log.contains(&KEY[..20]), "a key is not logged: {log}");
    }
}

#[test]
#[ignore = "needs redis-server"]
fn restart_of_redis_triggers_a_resync() {
    let mut redis = RedisServer::stopped();
    let [here, there] = replicas(&redis.url());
    let mut subscription = Subscription::start(&there);
    // Replicas start and serve without Redis.
    change(&here, "write", json!({"id": 1}));
    redis.resume();
    redis.wait_for_replicas(2);
    check_delivery(&here, &mut subscription);
    for _ in 0..2 {
        redis.stop();
        // This event cannot be delivered.
        change(&here, "write", json!({"id": 1}));
        redis.resume();
        subscription.wait_for(TOOLS);
        subscription.wait_for("notes://1");
        redis.wait_for_replicas(2);
        check_delivery(&here, &mut subscription);
    }
    // The loss of a connection triggers a resync, too.
    let killed = redis.command(&[b"CLIENT", b"KILL", b"TYPE", b"pubsub"]);
    assert_eq!(killed, ":2\r\n");
    subscription.wait_for(TOOLS);
    redis.wait_for_replicas(2);
    check_delivery(&here, &mut subscription);
    let log = there.stop();
    assert!(log.contains("the event bus is not connected"), "{log}");
}

#[test]
#[ignore = "needs redis-server"]
fn invalid_events_are_dropped() {
    let redis = RedisServer::start();
    let [here, there] = replicas(&redis.url());
    let mut subscription = Subscription::start(&there);
    redis.wait_for_replicas(2);
    check_delivery(&here, &mut subscription);
    let foreign = br#"{"version":1,"server":"x","replica":"x","event":"everything"}"#;
    let long = vec![b'x'; 8 << 20];
    let deep = "[".repeat(1_000);
    let bad: [&[u8]; 6] = [b"", b"\xff\xfe\0", b"{}", deep.as_bytes(), &long, foreign];
    for message in bad {
        redis.publish(message);
    }
    for _ in 0..100 {
        redis.publish(b"flood");
    }
    change(&here, "write", json!({"id": 1}));
    assert_eq!(
        subscription.next_notification(),
        "notes://1",
        "invalid events are not reported"
    );
    check_delivery(&here, &mut subscription);
    let logged = there.stop();
    let lines = logged.matches("a message of the event bus was dropped");
    assert_eq!(lines.count(), 7, "the log is not flooded: {logged}");
}

#[test]
#[ignore = "needs redis-server"]
fn replica_without_access_to_redis_serves_alone() {
    let redis = RedisServer::start();
    let url = redis.url().replace(PASSWORD, "wrong-password-2342");
    let here = Replica::start_with(KEY, Some(&url));
    let mut subscription = Subscription::start(&here);
    for _ in 0..3 {
        change(&here, "write", json!({"id": 1}));
        assert_eq!(subscription.next_notification(), "notes://1");
    }
    let log = here.kill_after("the event bus is not connected");
    assert!(!log.contains("wrong-password"), "{log}");
}
