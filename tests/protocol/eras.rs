//! Handshakes, discovery, and who speaks which revision.

use serde_json::json;
use treenail::schema::Revision;

use crate::fixture::server;
use crate::peer::{MODERN, Peer, error, initialize, meta};

#[tokio::test]
async fn initialize_negotiates_the_revision_and_tells_of_the_server() {
    // SRV-LIFE-01, SRV-LIFE-02, AMB-17: what is offered, and what is agreed on.
    let table = [
        ("2024-11-05", Revision::V2024_11_05),
        ("2025-03-26", Revision::V2025_03_26),
        ("2025-06-18", Revision::V2025_06_18),
        ("2025-11-25", Revision::V2025_11_25),
        ("2026-07-28", Revision::V2025_11_25),
        ("1999-01-01", Revision::V2025_11_25),
    ];
    for (offered, agreed) in table {
        let mut peer = Peer::silent(&server(), agreed);
        let answer = peer.request("initialize", initialize(offered)).await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], agreed.as_str());
        assert_eq!(result["serverInfo"]["name"], "treenail");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(
            result["capabilities"],
            json!({"logging": {}, "tools": {}}),
            "SRV-TOOL-01"
        );
        assert_eq!(
            result["instructions"],
            "Ask for the weather of one place at a time."
        );
        assert_eq!(result.get("resultType"), None);
    }
}

#[tokio::test]
async fn a_call_before_the_handshake_is_finished_is_refused() {
    let server = server();
    let mut peer = Peer::silent(&server, Revision::V2025_11_25);
    let (code, message) = peer.refused("tools/list", json!({})).await;
    assert_eq!(code, -32602, "SRV-META-02");
    assert!(
        message.contains("io.modelcontextprotocol/protocolVersion")
            && message.contains("initialize"),
        "{message}"
    );

    peer.request("initialize", initialize("2025-11-25")).await;
    let (code, message) = peer.refused("tools/call", json!({"name": "motto"})).await;
    assert_eq!(
        (code, message.contains("notifications/initialized")),
        (-32600, true),
        "{message}"
    );
    assert_eq!(
        peer.request("ping", json!({})).await["result"],
        json!({}),
        "ALL-LIFE-02"
    );

    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    assert_eq!(
        peer.call("motto", json!({})).await["content"][0]["text"],
        "one\ntwo"
    );
    let (code, _) = peer.refused("initialize", initialize("2025-11-25")).await;
    assert_eq!(code, -32600, "a second handshake");
    assert_eq!(
        peer.call("motto", json!({})).await["content"][0]["text"],
        "one\ntwo"
    );
}

#[tokio::test]
async fn discover_tells_what_initialize_told() {
    let mut peer = Peer::connect(&server(), MODERN).await;
    let result = peer.request("server/discover", json!({})).await["result"].take();
    // SRV-DISC-01 to 04, SRV-BASE-03, SRV-CACHE-01.
    let versions = [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05",
    ];
    assert_eq!(result["supportedVersions"], json!(versions));
    assert_eq!(result["capabilities"], json!({"logging": {}, "tools": {}}));
    assert_eq!(
        result["instructions"],
        "Ask for the weather of one place at a time."
    );
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "treenail"
    );
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["title"],
        "Fixture"
    );
}

/// A change to `_meta`, the code of the error that it gives, and what its message names.
type Row = (
    fn(&mut serde_json::Map<String, serde_json::Value>),
    i64,
    &'static str,
);

#[tokio::test]
async fn a_modern_request_says_who_asks() {
    let server = server();
    let with = |change: fn(&mut serde_json::Map<String, serde_json::Value>)| {
        let mut members: serde_json::Map<_, _> = meta("2026-07-28")
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        change(&mut members);
        json!({"jsonrpc": "2.0", "id": "a", "method": "server/discover", "params": {"_meta": members}})
    };
    let table: [Row; 7] = [
        (
            |meta| drop(meta.remove("io.modelcontextprotocol/protocolVersion")),
            -32602,
            "protocolVersion",
        ),
        (
            |meta| drop(meta.remove("io.modelcontextprotocol/clientCapabilities")),
            -32602,
            "clientCapabilities",
        ),
        (
            |meta| meta["io.modelcontextprotocol/clientCapabilities"] = json!([]),
            -32602,
            "clientCapabilities",
        ),
        (
            |meta| meta["io.modelcontextprotocol/protocolVersion"] = json!(20_260_728),
            -32602,
            "protocolVersion",
        ),
        (
            |meta| meta["io.modelcontextprotocol/clientInfo"] = json!("me"),
            -32602,
            "clientInfo",
        ),
        (
            |meta| meta["io.modelcontextprotocol/protocolVersion"] = json!("v999.0.0"),
            -32022,
            "v999.0.0",
        ),
        (
            |meta| meta["io.modelcontextprotocol/protocolVersion"] = json!("2025-11-25"),
            -32022,
            "initialize",
        ),
    ];
    for (change, code, names) in table {
        let mut peer = Peer::silent(&server, MODERN);
        peer.send(&with(change)).await;
        let answer = peer.receive("server/discover").await;
        let (found, message) = error(&answer);
        assert_eq!(
            found, code,
            "SRV-META-02, SRV-VER-01, SRV-DISC-05: {answer}"
        );
        assert!(message.contains(names), "{message}");
        if code == -32022 {
            // SRV-ERR-02
            assert_eq!(answer["error"]["data"]["supported"][0], "2026-07-28");
            assert!(answer["error"]["data"]["requested"].is_string());
        }
        // SRV-META-01: the name of the client is optional; and the connection goes on.
        peer.send(&with(|meta| {
            drop(meta.remove("io.modelcontextprotocol/clientInfo"));
        }))
        .await;
        assert_eq!(
            peer.receive("server/discover").await["result"]["resultType"],
            "complete"
        );
    }
}

#[tokio::test]
async fn methods_of_another_era_do_not_exist() {
    // SRV-LIFE-04, AMB-16, ALL-ERR-01
    let legacy_only = [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ];
    for (revision, methods) in [
        (MODERN, &legacy_only[..]),
        (
            Revision::V2025_11_25,
            &["server/discover", "subscriptions/listen"][..],
        ),
        (
            Revision::V2024_11_05,
            &[
                "elicitation/create",
                "prompts/list",
                "no/such",
                "notifications/initialized",
            ][..],
        ),
    ] {
        let mut peer = Peer::connect(&server(), revision).await;
        for method in methods {
            let (code, message) = peer.refused(method, json!({})).await;
            assert_eq!(code, -32601, "{method} in {revision}: {message}");
            assert!(message.contains(method), "{message}");
        }
    }
}

#[tokio::test]
async fn both_eras_share_a_connection() {
    // SRV-ERA-01, SRV-ERA-02, SRV-STATE-01
    let server = server();
    let mut peer = Peer::connect(&server, Revision::V2025_06_18).await;
    assert_eq!(
        peer.call("add", json!({"a": 1, "b": 2}))
            .await
            .get("resultType"),
        None
    );
    peer.revision = MODERN;
    assert_eq!(
        peer.call("add", json!({"a": 1, "b": 2})).await["resultType"],
        "complete"
    );
    peer.revision = Revision::V2025_06_18;
    assert_eq!(
        peer.call("add", json!({"a": 1, "b": 2}))
            .await
            .get("resultType"),
        None
    );
}

#[tokio::test]
async fn clients_on_one_connection_are_told_apart() {
    // SRV-STATE-01, SRV-STATE-02
    let mut peer = Peer::silent(&server(), MODERN);
    for name in ["one", "two", "one"] {
        let mut params = json!({"name": "works_hard", "_meta": {}});
        for (key, value) in meta("2026-07-28") {
            params["_meta"][key] = value;
        }
        params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = name.into();
        peer.send(&json!({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params}))
            .await;
        let answer = peer.receive("tools/call").await;
        assert_eq!(answer["id"], name);
        assert_eq!(answer["result"]["content"][0]["text"], name);
    }
}
