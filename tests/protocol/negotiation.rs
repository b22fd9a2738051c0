//! Handshake, discovery, and the revision of each request.

use serde_json::{Map, Value, json};
use treenail::schema::Revision;

use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, error, initialize, meta, text};
use crate::support::weather::server;

#[tokio::test]
async fn initialize_negotiates_the_revision_and_describes_the_server() {
    // AMB-17: the offered revision, and the negotiated one.
    let known = covering("SRV-LIFE-01, SRV-LIFE-02, ALL-VER-01 until 2025-11-25");
    let known = known.iter().map(|revision| (revision.as_str(), *revision));
    let unknown = ["2026-07-28", "1999-01-01"].map(|offered| (offered, Revision::V2025_11_25));
    for (offered, agreed) in known.chain(unknown) {
        let mut peer = Peer::silent(&server(), agreed);
        let answer = peer.request("initialize", initialize(offered)).await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], agreed.as_str(), "SRV-LIFE-01");
        assert_eq!(result["serverInfo"]["name"], "treenail", "SRV-LIFE-02");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(result["capabilities"], json!({"logging": {}, "tools": {}}));
        assert_eq!(
            result["instructions"],
            "Ask for the weather of one place at a time."
        );
        assert_eq!(result.get("resultType"), None);
    }
}

#[tokio::test]
async fn calls_before_the_end_of_the_handshake_are_rejected() {
    let server = server();
    for revision in covering("SRV-LIFE-03, ALL-LIFE-02 until 2025-11-25") {
        let mut peer = Peer::silent(&server, revision);
        let (code, message) = peer.refused("tools/list", json!({})).await;
        assert_eq!(code, -32602, "SRV-META-02");
        assert!(
            message.contains("io.modelcontextprotocol/protocolVersion")
                && message.contains("initialize"),
            "{message}"
        );
        let ping = peer.request("ping", json!({})).await;
        assert_eq!(ping["result"], json!({}), "ALL-LIFE-02");

        peer.request("initialize", initialize(revision.as_str()))
            .await;
        // The next message is the response to the next request: SRV-LIFE-03.
        let (code, message) = peer.refused("tools/call", json!({"name": "motto"})).await;
        assert_eq!(
            (code, message.contains("notifications/initialized")),
            (-32600, true),
            "{message}"
        );
        let ping = peer.request("ping", json!({})).await;
        assert_eq!(ping["result"], json!({}), "ALL-LIFE-02");

        peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        assert_eq!(text(&peer.call("motto", json!({})).await), "one\ntwo");
        assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-LIFE-03");
    }
}

#[tokio::test]
async fn discover_and_initialize_describe_the_same_server() {
    let revision = covering_one("SRV-DISC-01, SRV-DISC-02, SRV-DISC-03 in 2026-07-28");
    let mut peer = Peer::connect(&server(), revision).await;
    let result = peer.request("server/discover", json!({})).await["result"].take();
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
    assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string());
    assert_eq!(result.get("serverInfo"), None, "SRV-DISC-03");
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "treenail"
    );
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["title"],
        "Fixture"
    );
}

/// A change to `_meta`, the resulting error code, and a part of its message.
type Row = (fn(&mut Map<String, Value>), i64, &'static str);

#[tokio::test]
async fn modern_requests_identify_the_client() {
    let revision =
        covering_one("SRV-META-01, SRV-META-02, SRV-VER-01, SRV-DISC-05, SRV-ERR-02 in 2026-07-28");
    let server = server();
    let with = |change: fn(&mut Map<String, Value>)| {
        let mut members: Map<_, _> = meta("2026-07-28")
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
        let mut peer = Peer::silent(&server, revision);
        peer.send(&with(change)).await;
        let answer = peer.receive("server/discover").await;
        let (found, message) = error(&answer);
        assert_eq!(
            found, code,
            "SRV-META-02, SRV-VER-01, SRV-DISC-05: {answer}"
        );
        assert!(message.contains(names), "{message}");
        if code == -32022 {
            let asked_for = if names == "initialize" {
                "2025-11-25"
            } else {
                names
            };
            let data = &answer["error"]["data"];
            assert_eq!(data["supported"][0], "2026-07-28", "SRV-ERR-02");
            assert_eq!(data["requested"].as_str().unwrap(), asked_for, "SRV-ERR-02");
        }
        // SRV-META-01: the name of the client is optional, and the connection stays usable.
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
    // AMB-16
    let removed = [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "notifications/initialized",
        "notifications/roots/list_changed",
        "notifications/elicitation/complete",
        "tasks/list",
        "tasks/result",
    ];
    let never = ["no/such", "", "notifications/initialized"];
    for revision in covering("SRV-LIFE-04, ALL-ERR-01") {
        let mut peer = Peer::connect(&server(), revision).await;
        let methods = match revision {
            MODERN => removed.to_vec(),
            _ => ["server/discover", "subscriptions/listen", "tasks/update"].to_vec(),
        };
        for method in methods.into_iter().chain(never) {
            let (code, message) = peer.refused(method, json!({})).await;
            assert_eq!(code, -32601, "SRV-LIFE-04: {method} in {revision}");
            assert!(message.contains(method), "{message}");
        }
        let requests_to_clients = ["elicitation/create", "sampling/createMessage", "roots/list"];
        for method in requests_to_clients {
            assert_eq!(peer.refused(method, json!({})).await.0, -32601, "{method}");
        }
    }
}

#[tokio::test]
async fn both_eras_share_a_connection() {
    let server = server();
    for revision in covering("SRV-ERA-01, SRV-ERA-02, SRV-STATE-01") {
        let mut peer = Peer::connect(&server, revision).await;
        let legacy = match revision {
            // The handshake may also follow modern requests.
            MODERN => {
                peer.call("motto", json!({})).await;
                peer.revision = Revision::LATEST_LEGACY;
                peer.shake_hands().await;
                peer.revision
            }
            legacy => legacy,
        };
        for speaks in [legacy, MODERN, legacy, MODERN] {
            peer.revision = speaks;
            let result = peer.call("add", json!({"a": 1, "b": 2})).await;
            let complete = speaks.is_modern().then(|| json!("complete"));
            assert_eq!(result.get("resultType"), complete.as_ref(), "SRV-ERA-02");
        }
        // The handshake does not affect requests that identify their client: SRV-STATE-01.
        let caller = peer.call("works_hard", json!({})).await;
        assert_eq!(text(&caller), "test");
        let nameless = json!({"name": "works_hard", "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN.as_str(),
            "io.modelcontextprotocol/clientCapabilities": {},
        }});
        peer.send(
            &json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": nameless}),
        )
        .await;
        let answer = peer.receive("tools/call").await;
        assert_eq!(text(&answer["result"]), "nobody", "SRV-STATE-01");
    }
}

#[tokio::test]
async fn clients_on_one_connection_are_distinguished() {
    let revision = covering_one("SRV-STATE-01, SRV-STATE-02 in 2026-07-28");
    let mut peer = Peer::silent(&server(), revision);
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

#[tokio::test]
async fn no_extension_is_declared_and_client_extensions_are_ignored() {
    let revision = covering_one("ALL-EXT-01, ALL-EXT-02, ALL-EXT-04, SRV-EXT-01 in 2026-07-28");
    let extensions = json!({"extensions": {
        "io.modelcontextprotocol/tasks": {}, "com.example/other": {"depth": [1, {"a": null}]},
    }});
    let mut plain = Peer::connect(&server(), revision).await;
    let mut extended = Peer::connect_as(&server(), revision, extensions).await;
    let answer = extended.request("server/discover", json!({})).await;
    let capabilities = &answer["result"]["capabilities"];
    assert_eq!(capabilities.get("extensions"), None, "ALL-EXT-04");
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "motto"})),
        ("tasks/get", json!({"taskId": "1"})),
    ] {
        let expected = plain.request(method, params.clone()).await;
        let mut answer = extended.request(method, params).await;
        answer["id"] = expected["id"].clone();
        assert_eq!(answer, expected, "ALL-EXT-02 {method}");
    }
}
