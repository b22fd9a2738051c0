//! Faults: a failure of a function or a peer is limited to one call or one connection.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use treenail::Limits;
use treenail::schema::Revision;

use super::faulty::fragile;
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, at_rest, error, text};

fn tool(name: &str, arguments: &Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": name, "arguments": arguments}))
}

fn complete(reference: &Value, argument: &str) -> (&'static str, Value) {
    let argument = json!({"name": argument, "value": ""});
    (
        "completion/complete",
        json!({"ref": reference, "argument": argument}),
    )
}

#[tokio::test]
async fn a_panic_in_user_code_ends_one_call() {
    let none = json!({});
    let table = [
        tool("at_once", &none),
        tool("in_first_poll", &none),
        tool("later", &none),
        tool("on_a_thread", &none),
        tool("takes", &json!({"bomb": {"fuse": "lit"}})),
        tool("gives", &none),
        tool("fails", &none),
        ("prompts/get", json!({"name": "prompt_at_once"})),
        (
            "prompts/get",
            json!({"name": "prompt_later", "arguments": {"name": "a"}}),
        ),
        ("prompts/get", json!({"name": "prompt_on_a_thread"})),
        ("resources/read", json!({"uri": "fragile://at-once"})),
        ("resources/read", json!({"uri": "fragile://later/a"})),
        ("resources/read", json!({"uri": "fragile://on-a-thread"})),
        complete(
            &json!({"type": "ref/prompt", "name": "prompt_later"}),
            "name",
        ),
        complete(
            &json!({"type": "ref/resource", "uri": "fragile://later/{name}"}),
            "name",
        ),
    ];
    for revision in covering("SRV-STDIO-01") {
        let mut peer = Peer::connect(&fragile(Limits::default()).0, revision).await;
        for (method, params) in &table {
            let answer = peer.request(method, params.clone()).await;
            if *method == "tools/call" {
                assert_eq!(answer["result"]["isError"], true, "{params}: {answer}");
            } else {
                assert_eq!(error(&answer).0, -32603, "{params}: {answer}");
            }
            assert!(!answer.to_string().contains("secret"), "{answer}");
            let next = peer.call("measured", json!({"number": 1})).await;
            assert_eq!(text(&next), "1", "the session continues after {params}");
        }
        let rest = peer.finish().await;
        assert_eq!(rest, [] as [Value; 0], "SRV-STDIO-01");
    }
}

#[tokio::test]
async fn an_endless_call_blocks_no_other_and_stops_when_cancelled() {
    for revision in covering("SRV-CANC-03, SRV-STDIO-04, SRV-STDIO-05") {
        let (server, watch) = fragile(Limits::default());
        let mut peer = Peer::connect(&server, revision).await;
        let never = peer.begin("tools/call", json!({"name": "never"})).await;
        for number in 0..100 {
            let result = peer.call("measured", json!({"number": number})).await;
            assert_eq!(text(&result), number.to_string());
        }
        assert_eq!(watch.dropped.available_permits(), 0, "it runs still");
        peer.cancel(never).await;
        watch.dropped.acquire().await.unwrap().forget();
        assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-STDIO-05");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_whose_calls_have_ended_gets_a_reserved_place() {
    // Three places for all, and one for peers without running calls.
    let (server, watch) = fragile(Limits::default().server_calls_in_flight(4));
    let never = || json!({"name": "never"});
    let mut waiting = Peer::connect(&server, MODERN).await;
    let mut busy = Peer::connect(&server, MODERN).await;
    let mut idle = Peer::connect(&server, MODERN).await;
    let first = waiting.begin("tools/call", never()).await;
    for _ in 0..2 {
        busy.begin("tools/call", never()).await;
    }
    watch.begun.acquire_many(3).await.unwrap().forget();
    let reserved = idle.begin("tools/call", never()).await;
    watch.begun.acquire().await.unwrap().forget();
    busy.begin("tools/call", never()).await;
    at_rest().await;
    let measured = json!({"name": "measured", "arguments": {"number": 1}});
    let held = waiting.begin("tools/call", measured).await;
    at_rest().await;
    // Its place goes to the call that has waited longer.
    waiting.cancel(first).await;
    watch.begun.acquire().await.unwrap().forget();
    at_rest().await;
    idle.cancel(reserved).await;
    let answer = tokio::time::timeout(Duration::from_secs(60), waiting.receive("tools/call"));
    assert_eq!(answer.await.unwrap()["id"], held);
}

#[tokio::test]
async fn queued_calls_are_answered_once_and_run_within_the_limit() {
    for (calls, calls_in_flight) in [(1_000, 8), (10_000, 256)] {
        let (server, watch) = fragile(Limits::default().calls_in_flight(calls_in_flight));
        let mut peer = Peer::connect(&server, MODERN).await;
        let messages = (0..calls).map(|number| {
            let params = json!({"name": "measured", "arguments": {"number": number}});
            peer.message(&json!(number), "tools/call", params)
                .to_string()
        });
        let lines = messages.collect::<Vec<_>>().join("\n") + "\n";
        let answers = peer.flood(lines.as_bytes(), calls).await;
        let mut answered = HashSet::new();
        for answer in answers {
            let id = answer["id"].as_u64().unwrap();
            assert_eq!(text(&answer["result"]), id.to_string(), "SRV-BASE-01");
            assert!(answered.insert(id), "{id} was answered twice");
        }
        assert_eq!(answered.len(), calls);
        assert_eq!(watch.most.load(Ordering::SeqCst), calls_in_flight);
        assert_eq!(peer.finish().await, [] as [Value; 0]);
    }
}

/// Capacity in bytes of one direction of a connection in memory.
const PIPE: usize = 64 * 1024;

#[tokio::test(start_paused = true)]
async fn calls_of_a_peer_that_does_not_read_are_limited() {
    for later in [false, true] {
        let limits = Limits::default()
            .queued_output_bytes(100_000)
            .calls_in_flight(5);
        let (server, watch) = fragile(limits);
        let mut peer = Peer::connect(&server, MODERN).await;
        let params = json!({"name": "large", "arguments": {"later": later}});
        let call = peer.message(&json!(1), "tools/call", params);
        // The paused clock advances only when nothing can progress, so the time is over once the server is idle.
        let mut sent = 0_usize;
        let patience = Duration::from_secs(1);
        while tokio::time::timeout(patience, peer.send(&call))
            .await
            .is_ok()
        {
            sent += 1;
            assert!(sent < 10_000, "the server took everything");
        }
        // The capacity of the pipe, the queue, one response beyond it, and the calls in flight.
        let done = watch.done.load(Ordering::SeqCst);
        let most = (PIPE + 100_000) / 10_000 + 1 + 5;
        assert!(done <= most, "{done} calls have run, more than {most}");
        for _ in 0..sent {
            peer.receive("tools/call").await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn notifications_to_a_peer_that_does_not_read_apply_back_pressure() {
    let limits = Limits::default()
        .queued_output_bytes(10_000)
        .queued_messages(4);
    for revision in covering("SRV-CANC-03, SRV-PROG-05") {
        let (server, watch) = fragile(limits.clone());
        let mut peer = Peer::connect(&server, revision).await;
        let params = json!({"name": "tell", "_meta": {"progressToken": 1}});
        let id = peer.begin("tools/call", params).await;
        at_rest().await;
        let told = watch.done.load(Ordering::SeqCst);
        // A step takes at least 100 bytes. Beside those in the pipe and in the output, four are queued and one waits.
        let most = (PIPE + 10_000) / 100 + 4 + 1;
        assert!((1..=most).contains(&told), "{told} steps were told");

        // The cancellation is processed once the peer reads again; nothing is sent after it.
        peer.cancel(id).await;
        while watch.dropped.available_permits() == 0 {
            let message = peer.receive_any().await.unwrap();
            assert_eq!(message["params"]["progressToken"], 1);
        }
        let marker = peer.message(&json!("marker"), "tools/list", json!({}));
        peer.send(&marker).await;
        while peer.receive_any().await.unwrap().get("method").is_some() {}
        assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-PROG-05");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_slowly_is_served_while_a_call_sends_without_pause() {
    let limits = Limits::default().queued_output_bytes(100_000);
    for revision in covering("SRV-STDIO-04") {
        let (server, watch) = fragile(limits.clone());
        let mut peer = Peer::connect(&server, revision).await;
        let params = json!({"name": "tell", "_meta": {"progressToken": 1}});
        let id = peer.begin("tools/call", params).await;
        at_rest().await;
        let marker = peer.message(&json!("marker"), "tools/list", json!({}));
        peer.send(&marker).await;
        let mut read = 0;
        loop {
            // The call fills all room that the last read has made.
            at_rest().await;
            let message = peer.receive_any().await.unwrap();
            if message["id"] == "marker" {
                break;
            }
            read += message.to_string().len();
            assert!(read <= PIPE + 100_000, "no response in {read} bytes");
        }
        assert_eq!(watch.dropped.available_permits(), 0);
        peer.cancel(id).await;
        at_rest().await;
        assert_eq!(watch.dropped.available_permits(), 1, "SRV-STDIO-04");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_disconnected_client_are_dropped() {
    for revision in covering("SRV-STDIO-06") {
        for name in ["never", "tell"] {
            let limits = Limits::default().shutdown_timeout(Duration::from_secs(7));
            let (server, watch) = fragile(limits);
            let mut peer = Peer::connect(&server, revision).await;
            let params = json!({"name": name, "_meta": {"progressToken": 1}});
            peer.begin("tools/call", params).await;
            if name == "never" {
                watch.begun.acquire().await.unwrap().forget();
            } else {
                peer.receive_any().await.unwrap();
            }
            let gone = tokio::time::Instant::now();
            peer.vanish().await;
            assert_eq!(watch.dropped.available_permits(), 1, "{name}");
            // A call notices the disconnect only when it sends something.
            let seconds = if name == "never" { 7 } else { 0 };
            assert_eq!(gone.elapsed().as_secs(), seconds, "{name}");
        }
    }
}

#[tokio::test]
async fn batched_calls_run_within_the_limit() {
    let (server, watch) = fragile(Limits::default().calls_in_flight(2));
    let mut peer = Peer::connect(&server, Revision::V2025_03_26).await;
    let batch = |peer: &Peer, ids: std::ops::Range<i64>| {
        let calls = ids.map(|id| {
            let params = json!({"name": "measured", "arguments": {"number": 3}});
            peer.message(&json!(id), "tools/call", params)
        });
        Value::Array(calls.collect())
    };
    peer.send(&batch(&peer, 0..3)).await;
    let refused = peer.receive_any().await.unwrap();
    assert_eq!(refused["error"]["message"], "a batch has at most 2 calls");

    // The second one is deferred until the first gets its response.
    for ids in [0..2, 2..4] {
        peer.send(&batch(&peer, ids)).await;
    }
    for _ in 0..2 {
        let answers = peer.receive_any().await.unwrap();
        assert_eq!(answers.as_array().unwrap().len(), 2);
    }
    let most = watch.most.load(Ordering::SeqCst);
    assert!(most <= 2, "{most} ran at once, more than `calls_in_flight`");
}
