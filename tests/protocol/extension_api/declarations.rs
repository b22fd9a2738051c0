//! Declarations of extensions, and the gate in front of their methods.

use treenail::prelude::*;
use treenail::schema::Revision;

use super::jobs::{ID, connect, declared, server};
use crate::support::peer::{MODERN, Peer, error, initialize, text};

#[tokio::test]
async fn the_server_declares_its_extensions_in_each_revision() {
    let expected = json!({ID: {"max": 3, "nested": {"deep": [1, {"a": true}]}}});
    for revision in Revision::ALL {
        let mut peer = Peer::silent(&server(), revision);
        let (method, params) = if revision.is_modern() {
            ("server/discover", json!({}))
        } else {
            ("initialize", initialize(revision.as_str()))
        };
        let answer = peer.request(method, params).await;
        let declared = &answer["result"]["capabilities"]["extensions"];
        assert_eq!(
            *declared, expected,
            "EXT-B-02, EXT-B-03, EXT-S-01: {revision}"
        );
    }
}

/// The scenario `server-legacy-extensions` of the official conformance suite, for each revision: the maps arrive whole at the
/// other application.
#[tokio::test]
async fn maps_of_extensions_arrive_whole() {
    #[mcp_tool]
    async fn seen(cx: &Context) -> Value {
        json!(cx.client_capabilities().extensions)
    }

    let sent = json!({
        "io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]},
        "com.example/nested": {"a": {"b": [1, null, {"c": "d"}]}, "unknown": true},
        "com.example/empty": {},
    });
    let mut declared = sent.clone();
    declared["com.example/unusual"] = json!(true);
    let mut expected = sent;
    expected["com.example/unusual"] = json!({});
    let server = treenail::server!().tools(tools![seen]).build().unwrap();
    for revision in Revision::ALL {
        let capabilities = json!({ "extensions": declared });
        let mut peer = Peer::connect_as(&server, revision, capabilities).await;
        let result = peer.call("seen", json!({})).await;
        let received: Value = serde_json::from_str(text(&result)).unwrap();
        assert_eq!(received, expected, "EXT-B-03, EXT-B-04: {revision}");
    }
}

#[tokio::test]
async fn methods_need_the_declaration_of_the_client() {
    for revision in Revision::ALL {
        let server = server();
        let mut peer = Peer::connect(&server, revision).await;
        let answer = peer.request("jobs/add", json!({"a": 1})).await;
        assert_eq!(error(&answer).0, -32021, "EXT-B-05, XAMB-06: {answer}");
        let required = json!({"extensions": {ID: {}}});
        let data = &answer["error"]["data"]["requiredCapabilities"];
        assert_eq!(*data, required, "EXT-B-05: {answer}");
        let answer = peer.request("jobs/open", json!({"a": 1})).await;
        assert_eq!(answer["result"]["sum"], 1, "{revision}: {answer}");
        let mut peer = connect(&server, revision).await;
        let answer = peer.request("jobs/add", json!({"a": 1})).await;
        assert_eq!(answer["result"]["sum"], 1, "{revision}: {answer}");
    }
}

#[tokio::test]
async fn an_earlier_declaration_does_not_count() {
    let mut peer = connect(&server(), MODERN).await;
    let answer = peer.request("jobs/add", json!({"a": 1})).await;
    assert_eq!(answer["result"]["sum"], 1);
    for (capabilities, code) in [
        (json!({}), -32021),
        (json!({"extensions": {"com.example/other": {}}}), -32021),
    ] {
        peer.capabilities = capabilities;
        let refused = peer.refused("jobs/add", json!({"a": 1})).await;
        assert_eq!(refused.0, code, "EXT-C-01");
    }
    peer.capabilities = declared();
    let answer = peer.request("jobs/add", json!({"a": 1})).await;
    assert_eq!(answer["result"]["sum"], 1, "EXT-C-01");
}

#[tokio::test]
async fn a_server_without_the_extension_has_no_such_method() {
    let plain = treenail::server!().build().unwrap();
    for revision in Revision::ALL {
        let mut peer = connect(&plain, revision).await;
        let (code, message) = peer.refused("jobs/add", json!({})).await;
        assert_eq!(code, -32601, "XAMB-06: {message}");
        let mut peer = connect(&server(), revision).await;
        let (code, message) = peer.refused("jobs/other_method", json!({})).await;
        assert_eq!(code, -32601, "XAMB-06: {message}");
        let (code, message) = peer.refused("tasks/get", json!({"taskId": "1"})).await;
        assert_eq!(code, -32601, "XAMB-06: {message}");
        let old = peer.request("jobs/old", json!({"a": 1})).await;
        assert_eq!(old.get("error").is_some(), revision.is_modern(), "{old}");
    }
}

#[tokio::test]
async fn a_tool_sees_and_requires_the_declaration() {
    for revision in Revision::ALL {
        let server = server();
        let mut peer = connect(&server, revision).await;
        let result = peer.call("needs_jobs", json!({})).await;
        assert_eq!(text(&result), "served");
        let answer = peer.request("jobs/caller", json!({})).await;
        let settings = json!({"color": {"dark": [true]}});
        assert_eq!(answer["result"]["settings"], settings, "EXT-B-04");
        let mut peer = Peer::connect(&server, revision).await;
        let params = json!({"name": "needs_jobs", "arguments": {}});
        let answer = peer.request("tools/call", params).await;
        if revision.is_modern() {
            assert_eq!(error(&answer).0, -32021, "EXT-B-05: {answer}");
        } else {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
        }
    }
}

#[tokio::test]
async fn a_server_with_only_extension_methods_declares_log_messages() {
    let get = |_: Context, _: Value| async { Ok::<_, ToolError>(json!({})) };
    let extension = treenail::extension::Extension::new(ID).method("jobs/get", get);
    let server = treenail::server!().extension(extension).build().unwrap();
    let mut peer = Peer::silent(&server, Revision::LATEST_LEGACY);
    let params = initialize(Revision::LATEST_LEGACY.as_str());
    let answer = peer.request("initialize", params).await;
    let capabilities = &answer["result"]["capabilities"];
    assert_eq!(capabilities["logging"], json!({}), "SRV-LOG-02: {answer}");
}
