//! Malformed input: each line gets its own response, and the next line is served.

use serde_json::json;
use treenail::Limits;
use treenail::schema::Revision;

use super::weather::{fixture, server};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, error};

#[tokio::test]
async fn invalid_lines_get_an_error_and_the_next_line_is_served() {
    // The line, the error code, and the ID in the response.
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}}"#,
        "[".repeat(100_000)
    );
    let table: [(&[u8], i64, Option<serde_json::Value>); 13] = [
        (b"{", -32700, None),
        (b"nonsense", -32700, None),
        (b"\xff\xfe", -32700, None),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}",
            -32700,
            None,
        ),
        (deep.as_bytes(), -32600, Some(json!(1))),
        (b"3", -32600, None),
        (b"{}", -32600, None),
        (b"[]", -32600, None),
        (
            b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            -32600,
            Some(json!(1)),
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            -32600,
            None,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            -32600,
            None,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\",\"params\":[1]}",
            -32600,
            Some(json!("x")),
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":7}",
            -32600,
            Some(json!("x")),
        ),
    ];
    for revision in covering("ALL-BASE-03, ALL-BASE-05, SRV-BASE-05, SRV-BASE-06, ALL-ERR-01") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (line, code, id) in &table {
            peer.send_bytes(line).await;
            peer.send_bytes(b"\n").await;
            let answer = peer.receive("").await;
            assert_eq!(error(&answer).0, *code, "{answer}");
            assert_eq!(answer.get("id"), id.as_ref(), "{answer}");
            peer.call("motto", json!({})).await;
        }
    }
}

#[tokio::test]
async fn ids_are_returned_unchanged() {
    // Byte for byte, so also beyond 64 bits and with escapes.
    let ids = [
        "1",
        "\"1\"",
        "-5",
        "0",
        "\"\"",
        "\"a\\u0062\"",
        "123456789012345678901234567890",
    ];
    for revision in covering("SRV-BASE-01, ALL-BASE-03") {
        let mut peer = Peer::connect(&server(), revision).await;
        let request = peer.message(&json!("ID"), "tools/call", json!({"name": "motto"}));
        for id in ids {
            peer.send_line(&request.to_string().replace("\"ID\"", id))
                .await;
            let answer = peer.receive("tools/call").await;
            let sent: serde_json::Value = serde_json::from_str(id).unwrap();
            assert_eq!(answer["id"].to_string(), sent.to_string(), "SRV-BASE-01");
        }
    }
}

#[tokio::test]
async fn notifications_are_never_answered() {
    for revision in covering("ALL-BASE-08") {
        let mut peer = Peer::connect(&server(), revision).await;
        for method in [
            "no/such",
            "tools/call",
            "notifications/cancelled",
            "notifications/initialized",
        ] {
            peer.send(&json!({"jsonrpc": "2.0", "method": method}))
                .await;
            let misshapen = json!({"jsonrpc": "2.0", "method": method, "params": [1]});
            peer.send(&misshapen).await;
        }
        peer.send(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}))
            .await;
        peer.call("motto", json!({})).await;
        assert_eq!(peer.finish().await, [] as [serde_json::Value; 0]);
    }
}

#[tokio::test]
async fn oversized_lines_are_rejected_and_the_next_line_is_served() {
    let limits = Limits::default().message_bytes(1_000);
    let mut peer = Peer::connect(&fixture(limits).server, MODERN).await;
    for length in [1_001, 10_000, 1_000_000] {
        peer.send_line(&"x".repeat(length)).await;
        let (code, message) = error(&peer.receive("").await);
        assert_eq!(
            (code, message.as_str()),
            (-32600, "the message is longer than 1000 bytes")
        );
        peer.call("motto", json!({})).await;
    }
}

#[tokio::test]
async fn duplicate_members_are_rejected() {
    let mut peer = Peer::connect(&server(), Revision::V2025_11_25).await;
    let table = [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"motto","name":"nothing"}}"#,
            -32602,
        ),
    ];
    for (line, code) in table {
        peer.send_line(line).await;
        let (found, message) = error(&peer.receive("").await);
        assert_eq!(found, code);
        assert!(message.contains("twice"), "{message}");
    }
    let result = {
        peer.send_line(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"a":2,"b":3}}}"#,
        )
        .await;
        peer.receive("tools/call").await["result"].take()
    };
    assert_eq!(result["isError"], true);
    assert!(crate::support::peer::text(&result).contains("/a: given twice"));
}

#[tokio::test]
async fn batches_belong_to_one_revision() {
    // CLI-BASE-05
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/nothing"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "panics", "arguments": {"later": true}}},
        {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {}},
        7,
        {"jsonrpc": "2.0", "id": "4", "method": "tools/call", "params": {"name": "motto"}},
    ]);
    let revision = covering_one("ALL-BASE-09, ALL-BASE-10 in 2025-03-26");
    let mut peer = Peer::connect(&server(), revision).await;
    peer.send(&batch).await;
    let answers = peer.receive_any().await.unwrap();
    let mut ids: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["id"].to_string())
        .collect();
    ids.sort();
    assert_eq!(ids, ["\"4\"", "1", "2", "3", "null"], "{answers}");
    for answer in answers.as_array().unwrap() {
        match answer["id"].to_string().as_str() {
            "2" => assert_eq!(answer["result"]["isError"], true),
            "3" | "null" => assert_eq!(error(answer).0, -32600),
            _ => assert!(answer["result"].is_object()),
        }
    }
    peer.send(&json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]))
        .await;
    assert_eq!(
        peer.receive_any().await,
        Some(json!([{"jsonrpc": "2.0", "id": 1, "result": {}}]))
    );
    peer.send(&json!([{"jsonrpc": "2.0", "method": "notifications/nothing"}]))
        .await;
    peer.send(&vec![json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}); 129].into())
        .await;
    let (code, message) = error(&peer.receive("").await);
    assert_eq!(
        (code, message.as_str()),
        (-32600, "a batch has at most 128 messages")
    );

    let others = covering("ALL-BASE-11").into_iter();
    for revision in others.filter(|other| *other != revision) {
        let mut peer = Peer::connect(&server(), revision).await;
        peer.send(&batch).await;
        assert_eq!(error(&peer.receive("").await).0, -32600);
    }
}

#[tokio::test]
async fn unknown_tools_get_a_suggestion() {
    // The requested name, and the message.
    let table = [
        (
            "weather.forcast",
            "unknown tool `weather.forcast`: namespace `weather` has no `forcast`; did you mean `weather.forecast`?",
        ),
        (
            "wether.forecast",
            "unknown tool `wether.forecast`: there is no namespace `wether`; did you mean `weather.forecast`?",
        ),
        ("forecast", "unknown tool `forecast`"),
        (
            "weather",
            "`weather` is a namespace, not a tool; see `tools/list`",
        ),
        ("ad", "unknown tool `ad`; did you mean `add`?"),
        (
            "weather.",
            "the tool name `weather.` has an empty part before, after or between dots; did you mean `weather.wait`?",
        ),
        (
            "a b",
            "the tool name `a b` has characters other than `A-Z a-z 0-9 _ - .`",
        ),
        ("", "the tool name `` is empty"),
        (
            "a`\u{1b}[2J",
            "the tool name `a'\\u{1b}[2J` has characters other than `A-Z a-z 0-9 _ - .`",
        ),
    ];
    for revision in covering("SRV-TOOL-15") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, message) in table {
            assert_eq!(
                peer.refused("tools/call", json!({"name": name})).await,
                (-32602, message.to_owned())
            );
        }
        for params in [
            json!({}),
            json!({"name": 7}),
            json!({"name": "add", "arguments": []}),
        ] {
            assert_eq!(peer.refused("tools/call", params).await.0, -32602, "AMB-08");
        }
    }
}

#[tokio::test]
async fn mutated_lines_never_end_the_session() {
    let seed = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}"#;
    let alphabet = b"{}[]\":,\\u0e+-.9tfn \x00\xff";
    let mut random = fastrand::Rng::with_seed(1);
    let mut peer = Peer::connect(&server(), Revision::V2025_03_26).await;
    for round in 0..3_000 {
        let mut line = seed.as_bytes().to_vec();
        for _ in 0..=random.usize(..4) {
            let (at, byte) = (
                random.usize(..line.len()),
                alphabet[random.usize(..alphabet.len())],
            );
            match random.usize(..3) {
                0 => line[at] = byte,
                1 => line.insert(at, byte),
                _ => drop(line.remove(at)),
            }
        }
        line.push(b'\n');
        peer.send_bytes(&line).await;
        let marker = format!("marker {round}");
        peer.send(&json!({"jsonrpc": "2.0", "id": marker, "method": "ping"}))
            .await;
        // A mutated line gets at most one response; the ping always gets one.
        let first = peer.receive_any().await.expect("the session continues");
        if first["id"] != marker {
            assert_eq!(
                peer.receive_any().await.expect("the session continues")["id"],
                marker,
                "{first}"
            );
        }
    }
}
