//! Resources and templates: their descriptors, contents, and errors for invalid URIs.

use serde_json::json;
use treenail::schema::Revision;

use super::library::{CHECKS_TYPES, add_templates, library, server};
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, error};

#[tokio::test]
async fn a_resource_is_described_by_its_function() {
    for revision in covering("SRV-RES-03, SRV-RES-04, SRV-RES-13, ALL-RES-01") {
        let mut peer = Peer::connect(&server(), revision).await;
        let result = peer.request("resources/list", json!({})).await["result"].take();
        let resources = result["resources"].as_array().unwrap();
        assert_eq!(
            resources[0],
            json!({
                "name": "library.motto_text",
                "uri": "library://motto",
                "title": "Motto",
                "description": "What stands over the door.",
                "mimeType": "text/plain",
                "size": 7,
                "annotations": {"audience": ["user"], "priority": 0.5},
                "icons": [{"src": "https://example.com/icon.png"}],
            })
        );
        let uris: Vec<_> = resources.iter().map(|resource| &resource["uri"]).collect();
        for uri in &uris {
            let (scheme, _) = uri.as_str().unwrap().split_once(':').unwrap();
            assert!(
                scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                "SRV-RES-13"
            );
        }
        let names = [
            "motto", "cover", "place", "parts", "empty", "kept", "secret", "panics", "held",
        ];
        assert_eq!(
            json!(uris),
            json!(names.map(|name| format!("library://{name}")))
        );
        assert_eq!(
            resources[2]["mimeType"], "application/json",
            "a value is JSON"
        );
        assert_eq!(
            result.get("ttlMs"),
            revision.is_modern().then(|| json!(0)).as_ref()
        );

        let result = peer.request("resources/templates/list", json!({})).await["result"].take();
        assert_eq!(
            result["resourceTemplates"],
            json!([
                {
                    "name": "library.book",
                    "uriTemplate": "library://books/{number}",
                    "description": "One book.",
                    "mimeType": "text/plain",
                },
                {
                    "name": "library.shelf",
                    "uriTemplate": "library://shelves{/shelf}/books{.kind}",
                    "mimeType": "application/json",
                },
                {
                    "name": "library.file",
                    "uriTemplate": "file:///{+path}",
                    "description": "Any file.",
                },
            ])
        );
        assert_eq!(result.get("cacheScope").is_some(), revision.is_modern());
    }
}

#[tokio::test]
async fn a_server_with_only_templates_lists_no_resources() {
    let server = add_templates(treenail::server!()).build().unwrap();
    for revision in covering("SRV-RES-02") {
        let mut peer = Peer::connect(&server, revision).await;
        let answer = peer.request("resources/list", json!({})).await;
        assert_eq!(answer["result"]["resources"], json!([]));
        let templates = peer.request("resources/templates/list", json!({})).await;
        let template = &templates["result"]["resourceTemplates"][0];
        assert_eq!(template["name"], "only.named");
        assert_eq!(peer.read("only://a").await["contents"][0]["text"], "a");
    }
}

#[tokio::test]
async fn a_template_matches_no_uri_above_64_kib() {
    let server = server();
    for revision in [Revision::V2025_11_25, MODERN] {
        let mut peer = Peer::connect(&server, revision).await;
        let uri = |length: usize| format!("file:///{}", "a".repeat(length - 8));
        let longest = peer.read(&uri(64 * 1024)).await;
        assert!(longest["contents"][0]["blob"].is_string());
        let params = json!({"uri": uri(64 * 1024 + 1)});
        let response = peer.request("resources/read", params).await;
        let (code, message) = error(&response);
        assert!(matches!(code, -32002 | -32602), "{code}");
        assert!(message.ends_with("was not found"), "{message}");
        assert!(message.len() < 300, "{message}");
    }
}

#[tokio::test]
async fn each_return_type_becomes_contents() {
    // The URI, its media type, and its contents.
    let place = r#"{"name":"Os\"lo","latitude":59.9,"note":null}"#;
    let table = [
        (
            "library://motto",
            Some("text/plain"),
            json!({"text": "one\n\"two\""}),
        ),
        (
            "library://cover",
            Some("image/png"),
            json!({"blob": "AAH+/w=="}),
        ),
        (
            "library://place",
            Some("application/json"),
            json!({"text": place}),
        ),
        (
            "library://books/7",
            Some("text/plain"),
            json!({"text": "book 7"}),
        ),
        ("file:///a/b%20c", None, json!({"blob": "YS9iIGM="})),
        ("file:///%C3%A9%2Fa", None, json!({"blob": "w6kvYQ=="})),
    ];
    for revision in covering("SRV-RES-05, SRV-RES-14, ALL-TOOL-01") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (uri, mime_type, contents) in &table {
            let mut expected = contents.clone();
            expected["uri"] = (*uri).into();
            if let Some(mime_type) = mime_type {
                expected["mimeType"] = (*mime_type).into();
            }
            let result = peer.read(uri).await;
            assert_eq!(result["contents"], json!([expected]));
            // SRV-BASE-03, SRV-CACHE-01
            let modern = revision.is_modern();
            assert_eq!(
                result.get("resultType"),
                modern.then(|| json!("complete")).as_ref()
            );
            assert_eq!(result.get("ttlMs"), modern.then(|| json!(0)).as_ref());
            assert_eq!(
                result.get("cacheScope"),
                modern.then(|| json!("private")).as_ref()
            );
        }
        let parts = peer.read("library://parts").await;
        assert_eq!(parts["contents"][1]["uri"], "library://parts#2");
        let kept = peer.read("library://kept").await;
        let hints = (kept.get("ttlMs"), kept.get("cacheScope"));
        let expected = (json!(1_000), json!("public"));
        let expected = revision.is_modern().then_some(&expected);
        assert_eq!(
            hints,
            (
                expected.map(|hints| &hints.0),
                expected.map(|hints| &hints.1)
            )
        );
    }
}

#[tokio::test]
async fn unknown_resources_are_not_found() {
    // The URI, and the suggestion.
    let table = [
        ("library://mott", "; did you mean `library://motto`?"),
        ("elsewhere://a/very/different/place", ""),
        ("not a URI", ""),
        ("", ""),
        ("library://books/100", ""),
        ("library://books/", ""),
        ("library://books/1/2", ""),
        ("library://shelves/a/books.metric", ""),
        ("library://empty", ""),
        ("file:///none", ""),
        ("file:///", ""),
        ("file:///../etc/passwd", ""),
        ("file:///a/%2e%2e/%2E%2E/etc/passwd", ""),
        ("file:///a/..%2f..%2fetc/passwd", ""),
        ("file:///%ff", ""),
        ("file:///a b", ""),
    ];
    for revision in
        covering("SRV-RES-06, SRV-RES-07, SRV-RES-14, SRV-RES-15, SRV-ERR-05, ALL-ERR-07")
    {
        let code = if revision.is_modern() { -32602 } else { -32002 };
        let mut peer = Peer::connect(&server(), revision).await;
        for (uri, hint) in table {
            let answer = peer.request("resources/read", json!({ "uri": uri })).await;
            let message = format!("resource `{uri}` was not found{hint}");
            assert_eq!(error(&answer), (code, message));
            assert_eq!(answer["error"]["data"], json!({ "uri": uri }));
        }
    }
}

#[tokio::test]
async fn invalid_requests_get_a_precise_error() {
    let table = [
        (json!({}), "`params.uri` is missing"),
        (json!({"uri": 7}), "`params.uri` is not a string"),
        (
            json!({"uri": "library://books/many"}),
            "wrong variables in the URI of the resource `library.book`:\n- /number: expected an integer (at least 0, at most 65535), got the string \"many\"",
        ),
        (
            json!({"uri": "library://shelves/a/books.feet"}),
            "wrong variables in the URI of the resource `library.shelf`:\n- /kind: unknown variant `feet`, expected `metric` or `imperial`",
        ),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for (params, message) in &table {
            let refused = peer.refused("resources/read", params.clone()).await;
            if CHECKS_TYPES || !message.starts_with("wrong variables") {
                assert_eq!(refused, (-32602, (*message).to_owned()), "{params}");
            } else {
                assert_eq!(refused.0, -32602, "{params}");
            }
        }
    }
}

#[tokio::test]
async fn a_failure_is_an_internal_error() {
    let table = [
        ("library://secret", "the station does not answer"),
        (
            "library://shelves/broken/books.metric",
            "the station does not answer",
        ),
        (
            "library://panics",
            "the resource `library.panics` failed unexpectedly; this is a bug in the server",
        ),
    ];
    for revision in covering("SRV-RES-06") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (uri, message) in table {
            let refused = peer.refused("resources/read", json!({ "uri": uri })).await;
            assert_eq!(
                refused,
                (-32603, message.to_owned()),
                "the panic message is not sent"
            );
        }
    }
}

#[tokio::test]
async fn a_pending_resource_blocks_no_other_request() {
    let (server, gate) = library(treenail::Limits::default());
    let mut peer = Peer::connect(&server, MODERN).await;
    let held = peer
        .begin("resources/read", json!({"uri": "library://held"}))
        .await;
    assert!(peer.read("library://motto").await["contents"].is_array());
    gate.add_permits(1);
    let answer = peer.receive("resources/read").await;
    assert_eq!(
        (&answer["id"], &answer["result"]["contents"][0]["text"]),
        (&json!(held), &json!("held"))
    );
}
