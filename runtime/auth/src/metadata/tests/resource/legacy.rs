//! Servers without metadata of their resource.

use std::sync::Arc;

use http::{HeaderMap, Uri};
use serde_json::json;

use super::{AT_PATH, AT_ROOT, SERVER, find, find_at, rules};
use crate::AuthError;
use crate::fetch::Budget;
use crate::metadata::DiscoveryRules;
use crate::metadata::tests::{Web, discovery, document};

#[tokio::test]
async fn without_metadata_the_caller_or_the_old_way_names_the_server() {
    let web = Arc::<Web>::default();
    web.json(AT_PATH, &json!({"error": "no such page"}));
    let error = find(&web, "", rules()).await.unwrap_err().to_string();
    assert!(
        error.contains(AT_PATH) && error.contains(AT_ROOT),
        "AUTH-C-29: {error}"
    );
    let issuer = Some(Arc::from("https://given.example"));
    let given = DiscoveryRules {
        issuer,
        allows_legacy: true,
        ..rules()
    };
    let found = find_at(&web, "https://MCP.example/mcp", "", given)
        .await
        .unwrap();
    assert_eq!(found.issuers, ["https://given.example"], "AUTH-C-29");
    assert_eq!(found.resource.as_deref(), Some(SERVER), "AUTH-C-74");
    let legacy = DiscoveryRules {
        allows_legacy: true,
        ..rules()
    };
    let found = find(&web, "", legacy).await.unwrap();
    assert!(found.is_legacy && found.resource.is_none(), "AUTH-C-75");
    assert_eq!(found.issuers, ["https://mcp.example"], "AUTH-C-47");
}

#[tokio::test]
async fn the_old_way_reads_the_root_of_the_server_or_assumes_endpoints() {
    const PLACE: &str = "https://mcp.example/.well-known/oauth-authorization-server";
    let server: Uri = SERVER.parse().unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("mcp-protocol-version", "2025-03-26".parse().unwrap());
    let ask = async |web: &Arc<Web>| {
        let discovery = discovery(web, SERVER, rules());
        discovery
            .legacy_server(&server, &headers, &Budget::discovery())
            .await
    };
    let web = Arc::<Web>::default();
    let found = ask(&web).await.unwrap();
    let endpoint = |path: &str| Some(format!("https://mcp.example{path}"));
    assert!(found.is_assumed, "AUTH-C-48");
    assert_eq!(
        found.metadata.authorization_endpoint,
        endpoint("/authorize"),
        "AUTH-C-48"
    );
    assert_eq!(
        found.metadata.token_endpoint,
        endpoint("/token"),
        "AUTH-C-48"
    );
    assert_eq!(
        found.metadata.registration_endpoint,
        endpoint("/register"),
        "AUTH-C-48"
    );
    let revision = Some("2025-03-26".to_owned());
    assert_eq!(
        web.asked_with_revision(),
        [(PLACE.to_owned(), revision)],
        "AUTH-C-47"
    );
    for (issuer, is_accepted) in [
        ("https://mcp.example", true),
        ("https://mcp.example/", true),
        ("https://mcp.example/mcp", false),
        ("https://evil.example", false),
    ] {
        web.json(PLACE, &document(issuer));
        let found = ask(&web).await;
        assert_eq!(found.is_ok(), is_accepted, "AUTH-C-47: {issuer}");
        if let Ok(found) = found {
            assert!(!found.is_assumed, "AUTH-C-47");
            let token = found.metadata.token_endpoint.as_deref();
            assert_eq!(token, Some("https://as.example/token"), "AUTH-C-47");
        }
    }
    web.page(PLACE, 503, "");
    assert!(
        matches!(ask(&web).await, Err(AuthError::Unavailable(_))),
        "AUTH-C-44"
    );
}

#[tokio::test]
async fn assumed_metadata_are_not_those_of_a_listed_issuer() {
    const ORIGIN: &str = "https://mcp.example";
    const PLACE: &str = "https://mcp.example/.well-known/oauth-authorization-server";
    let (web, server) = (Arc::<Web>::default(), SERVER.parse::<Uri>().unwrap());
    let (discovery, budget) = (discovery(&web, SERVER, rules()), Budget::discovery());
    let headers = HeaderMap::new();
    let legacy = || discovery.legacy_server(&server, &headers, &budget);
    assert!(legacy().await.unwrap().is_assumed, "AUTH-C-48");
    web.json(PLACE, &document(ORIGIN));
    assert_eq!(web.asked(), [PLACE]);
    let listed = discovery.authorization_server(ORIGIN, &budget).await;
    let listed = listed.unwrap();
    assert!(!listed.is_assumed, "AUTH-C-70");
    let token = listed.metadata.token_endpoint.as_deref();
    assert_eq!(token, Some("https://as.example/token"), "AUTH-C-70");
    assert!(legacy().await.unwrap().is_assumed, "AUTH-C-48");
    assert_eq!(web.asked(), [PLACE], "AUTH-C-45");
    discovery.forget(ORIGIN);
    assert!(!legacy().await.unwrap().is_assumed, "AUTH-C-45");
}
