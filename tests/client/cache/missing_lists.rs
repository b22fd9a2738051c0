//! Lists that a server does not declare, does not implement, or cannot return.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use treenail::prelude::*;
use treenail::schema::Revision;

use super::{server_with_capabilities, tools};
use crate::script::{Reply, discovered, scripted};

const ERAS: [Revision; 2] = [Revision::LATEST, Revision::LATEST_LEGACY];

#[tokio::test]
async fn an_unimplemented_list_is_empty() {
    for revision in ERAS {
        let capabilities = json!({"tools": {}, "resources": {}});
        let (session, received) = scripted(server_with_capabilities(
            revision,
            capabilities,
            |method| match method {
                "tools/list" => Some(json!({"tools": tools(&["a"])})),
                "resources/list" => Some(json!({"resources": []})),
                _ => None,
            },
        ));
        let client = McpClient::builder().session(session).build().await.unwrap();
        assert_eq!(client.missing_lists(), [""; 0]);
        assert_eq!(client.url_templates().await.unwrap().len(), 0, "{revision}");
        assert_eq!(client.missing_lists(), ["resources/templates/list"]);
        client.url_templates().await.unwrap();
        let asked = received.methods().into_iter();
        let asked = asked.filter(|method| method == "resources/templates/list");
        assert_eq!(asked.count(), 1, "it is not requested again");

        client.refresh_all().await.unwrap();
        let contract = client.contract_with_resources().await.unwrap();
        assert_eq!(contract.tools().len(), 1);
        assert_eq!(contract.resource_templates().len(), 0);
        assert!(client.check(&contract).await.unwrap().is_empty());
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn other_errors_of_a_list_are_errors() {
    let (session, _) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::error(message, &json!({"code": -32603, "message": "broken"})),
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    assert!(client.tools().await.is_err());
    assert!(client.contract().await.is_err());
}

#[tokio::test]
async fn a_server_without_capabilities_gets_one_try() {
    for revision in ERAS {
        let (session, received) = scripted(server_with_capabilities(
            revision,
            json!({}),
            |method| match method {
                "tools/list" => Some(json!({"tools": tools(&["a"]), "ttlMs": 60_000})),
                "tools/call" => Some(json!({"content": [{"type": "text", "text": "done"}]})),
                _ => None,
            },
        ));
        let client = McpClient::builder().session(session).build().await.unwrap();
        assert_eq!(client.tools().await.unwrap().len(), 1, "{revision}");
        client.call_tool("a", ()).await.unwrap();
        assert_eq!(client.prompts().await.unwrap().len(), 0);
        assert_eq!(client.contract().await.unwrap().tools().len(), 1);
        assert!(!received.methods().contains(&"prompts/list".to_owned()));

        // No more than one try.
        let (session, received) = scripted(server_with_capabilities(revision, json!({}), |_| None));
        let client = McpClient::builder().session(session).build().await.unwrap();
        for _ in 0..3 {
            assert_eq!(client.tools().await.unwrap().len(), 0);
        }
        let tries = received.methods().into_iter();
        assert_eq!(tries.filter(|method| method == "tools/list").count(), 1);
        assert_eq!(client.missing_lists(), [""; 0], "it was not declared");

        // A server with other capabilities has no tools.
        let capabilities = json!({"prompts": {}});
        let (session, received) =
            scripted(server_with_capabilities(revision, capabilities, |_| None));
        let client = McpClient::builder().session(session).build().await.unwrap();
        assert_eq!(client.tools().await.unwrap().len(), 0);
        assert!(!received.methods().contains(&"tools/list".to_owned()));
    }
}

#[tokio::test]
async fn a_failure_of_a_server_without_capabilities_is_no_missing_list() {
    for revision in ERAS {
        for (code, fails_first) in [(-32603, true), (-32603, false), (-32602, false)] {
            check_failure(revision, code, fails_first).await;
        }
    }
}

/// Fetches the list of a server whose first or further requests for it fail with this code.
async fn check_failure(revision: Revision, code: i64, fails_first: bool) {
    let fetches = AtomicUsize::new(0);
    let listed = json!({"tools": tools(&["a"]), "ttlMs": 60_000});
    let list = move |method: &str| (method == "tools/list").then(|| listed.clone());
    let mut server = server_with_capabilities(revision, json!({}), list);
    let (session, _) = scripted(move |message| {
        let is_list = message["method"] == "tools/list";
        if is_list && (fetches.fetch_add(1, Ordering::SeqCst) == 0) == fails_first {
            return Reply::error(message, &json!({"code": code, "message": "overloaded"}));
        }
        server(message)
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    let listed = client.tools().await;
    assert_eq!(listed.is_err(), fails_first, "{revision} {code}");
    let refreshed = client.refresh_tools().await;
    assert_eq!(refreshed.is_err(), !fails_first, "{revision} {code}");
    assert_eq!(client.tools().await.unwrap().len(), 1, "{revision} {code}");
}
