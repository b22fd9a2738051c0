//! Replicas that hear of each other over a real Redis.

mod engine;
mod listening;
mod silent;

use serde_json::{Value, json};

use self::engine::{Engine, PASSWORD};
use self::listening::{Listening, TOOLS};
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

/// Changes things at one replica, and hears of each of them at the other.
///
/// Each more often than a new connection could make it heard.
fn check_crossing(here: &Replica, other: &mut Listening) {
    for _ in 0..3 {
        change(here, "write", json!({"id": 1}));
        other.wait_for("notes://1");
        change(here, "shut", json!({}));
        other.wait_for(TOOLS);
        change(here, "open", json!({}));
        other.wait_for(TOOLS);
    }
    // The last of all, so that nothing is left to be heard.
    change(here, "write", json!({"id": 2}));
    other.wait_for("notes://2");
}

#[test]
fn changes_at_one_replica_are_heard_at_the_other() {
    let engine = Engine::start();
    let [here, there] = replicas(&engine.url());
    let mut own = Listening::start(&here);
    let mut other = Listening::start(&there);
    engine.wait_for_replicas(2);
    check_crossing(&here, &mut other);
    check_crossing(&there, &mut own);
    // What a replica changes is changed there alone.
    change(&here, "shut", json!({}));
    other.wait_for(TOOLS);
    let book = |replica| call(replica, "book", json!({"city": "Oslo"}), json!({}));
    assert_eq!(book(&here)["error"]["code"], -32602);
    assert_eq!(book(&there)["result"]["resultType"], "input_required");
    // A replica that ends has told the others before.
    change(&here, "write", json!({"id": 1}));
    let log = here.end();
    other.wait_for("notes://1");
    for log in [log, there.end()] {
        assert!(log.contains("the event bus is connected"), "{log}");
        assert!(!log.contains(PASSWORD), "a password is not logged: {log}");
        assert!(!log.contains(&KEY[..20]), "a key is not logged: {log}");
    }
}

#[test]
fn after_a_restart_of_the_engine_all_may_have_changed() {
    let mut engine = Engine::stopped();
    let [here, there] = replicas(&engine.url());
    let mut heard = Listening::start(&there);
    // Replicas start, and serve, without it.
    change(&here, "write", json!({"id": 1}));
    engine.resume();
    engine.wait_for_replicas(2);
    check_crossing(&here, &mut heard);
    for _ in 0..2 {
        engine.stop();
        // Nobody can hear of this now.
        change(&here, "write", json!({"id": 1}));
        engine.resume();
        heard.wait_for(TOOLS);
        heard.wait_for("notes://1");
        engine.wait_for_replicas(2);
        check_crossing(&here, &mut heard);
    }
    // A connection alone that is lost is not missed either.
    let killed = engine.command(&[b"CLIENT", b"KILL", b"TYPE", b"pubsub"]);
    assert_eq!(killed, ":2\r\n");
    heard.wait_for(TOOLS);
    engine.wait_for_replicas(2);
    check_crossing(&here, &mut heard);
    let log = there.end();
    assert!(log.contains("the event bus is not connected"), "{log}");
}

#[test]
fn what_is_no_event_is_dropped() {
    let engine = Engine::start();
    let [here, there] = replicas(&engine.url());
    let mut heard = Listening::start(&there);
    engine.wait_for_replicas(2);
    check_crossing(&here, &mut heard);
    let foreign = br#"{"version":1,"server":"x","replica":"x","event":"everything"}"#;
    let long = vec![b'x'; 8 << 20];
    let deep = "[".repeat(1_000);
    let bad: [&[u8]; 6] = [b"", b"\xff\xfe\0", b"{}", deep.as_bytes(), &long, foreign];
    for message in bad {
        engine.publish(message);
    }
    for _ in 0..100 {
        engine.publish(b"flood");
    }
    change(&here, "write", json!({"id": 1}));
    assert_eq!(heard.hear(), "notes://1", "and nothing of the others");
    check_crossing(&here, &mut heard);
    let logged = there.end();
    let lines = logged.matches("a message of the event bus was dropped");
    assert_eq!(lines.count(), 7, "the log is not flooded: {logged}");
}

#[test]
fn a_replica_that_is_not_let_in_serves_alone() {
    let engine = Engine::start();
    let url = engine.url().replace(PASSWORD, "wrong-password-2342");
    let here = Replica::start_with(KEY, Some(&url));
    let mut heard = Listening::start(&here);
    for _ in 0..3 {
        change(&here, "write", json!({"id": 1}));
        assert_eq!(heard.hear(), "notes://1");
    }
    let log = here.kill_after("the event bus is not connected");
    assert!(!log.contains("wrong-password"), "{log}");
}
