//! Metadata of resources.

mod legacy;
mod urls;

use treenail_runtime::client::Challenges;
use treenail_schema::Revision;

use super::*;
use crate::metadata::{FoundResource, ResourceRequest};

const SERVER: &str = "https://mcp.example/mcp";
const AT_PATH: &str = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
const AT_ROOT: &str = "https://mcp.example/.well-known/oauth-protected-resource";
const ANNOUNCED: &str = "https://mcp.example/custom/metadata.json";

/// Finds the resource of a server with this `WWW-Authenticate` header.
async fn find(
    web: &Arc<Web>,
    header: &str,
    rules: DiscoveryRules,
) -> Result<FoundResource, AuthError> {
    find_at(web, SERVER, header, rules).await
}

async fn find_at(
    web: &Arc<Web>,
    server: &str,
    header: &str,
    rules: DiscoveryRules,
) -> Result<FoundResource, AuthError> {
    let discovery = discovery(web, server, rules);
    let server = server.parse().unwrap();
    let challenges = Challenges::parse([header]);
    let request = ResourceRequest {
        server: &server,
        challenge: challenges.with_scheme("Bearer").next(),
        revision: "2025-11-25".parse::<Revision>().ok(),
        accepts_legacy: true,
        bypass_cache: false,
        known: None,
    };
    discovery.resource(&request, &Budget::discovery()).await
}

fn metadata(resource: &str) -> Value {
    json!({"resource": resource, "authorization_servers": ["https://as.example"]})
}

fn announce(url: &str) -> String {
    format!(r#"Bearer resource_metadata="{url}""#)
}

fn rules() -> DiscoveryRules {
    DiscoveryRules::default()
}

#[tokio::test]
async fn the_first_document_is_used() {
    let header = announce(ANNOUNCED);
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (&header, &[ANNOUNCED, AT_PATH, AT_ROOT], &[ANNOUNCED]),
        ("Bearer", &[AT_PATH, AT_ROOT], &[AT_PATH]),
        ("Bearer", &[AT_ROOT], &[AT_PATH, AT_ROOT]),
        ("", &[AT_ROOT], &[AT_PATH, AT_ROOT]),
        (&header, &[AT_ROOT], &[ANNOUNCED, AT_PATH, AT_ROOT]),
    ];
    for (header, pages, asked) in cases {
        let web = Arc::<Web>::default();
        for page in pages {
            let mut metadata = metadata(SERVER);
            metadata["scopes_supported"] = json!(["b", "a", page]);
            web.json(page, &metadata);
        }
        let found = find(&web, header, rules()).await.unwrap();
        assert_eq!(web.asked(), asked, "AUTH-C-20, AUTH-C-21: {header}");
        assert_eq!(found.issuers, ["https://as.example"], "AUTH-C-19");
        let scopes = found.metadata.unwrap().scopes_supported.clone().unwrap();
        assert!(scopes.contains(asked.last().unwrap()), "AUTH-C-21");
    }
}

#[tokio::test]
async fn well_known_places_keep_path_and_query() {
    let root = "https://mcp.example/.well-known/oauth-protected-resource";
    for (server, path) in [
        ("https://mcp.example", None),
        ("https://mcp.example/", None),
        ("https://mcp.example/a/b", Some("/a/b")),
        ("https://mcp.example/a/", Some("/a")),
        ("https://mcp.example/a?x=y", Some("/a?x=y")),
        ("https://mcp.example/?x=y", Some("?x=y")),
    ] {
        let web = Arc::<Web>::default();
        find_at(&web, server, "", rules()).await.unwrap_err();
        let mut expected: Vec<_> = path
            .map(|path| format!("{root}{path}"))
            .into_iter()
            .collect();
        expected.push(root.to_owned());
        assert_eq!(web.asked(), expected, "AUTH-C-22: {server}");
    }
}

#[tokio::test]
async fn the_revision_is_sent_to_the_origin_of_the_server() {
    let web = Arc::<Web>::default();
    find(&web, "", rules()).await.unwrap_err();
    let revision = Some("2025-11-25".to_owned());
    let expected = [AT_PATH, AT_ROOT].map(|url| (url.to_owned(), revision.clone()));
    assert_eq!(web.asked_with_revision(), expected, "AUTH-C-34");
}

#[tokio::test]
async fn an_invalid_document_where_it_was_announced_is_an_error() {
    let no_servers = json!({"resource": SERVER}).to_string();
    let empty = json!({"resource": SERVER, "authorization_servers": []}).to_string();
    let null = json!({"resource": SERVER, "authorization_servers": null}).to_string();
    let wrong = json!({"resource": 7, "authorization_servers": ["https://as.example"]}).to_string();
    for (status, body) in [
        (200, "<html>"),
        (200, "{}"),
        (200, "[]"),
        (200, &*no_servers),
        (200, &*empty),
        (200, &*null),
        (200, &*wrong),
        (401, ""),
        (403, ""),
        (302, ""),
        (500, ""),
        (503, ""),
        (LOST, ""),
    ] {
        let web = Arc::<Web>::default();
        web.page(ANNOUNCED, status, body);
        web.json(AT_PATH, &metadata(SERVER));
        let found = find(&web, &announce(ANNOUNCED), rules()).await;
        assert!(found.is_err(), "AUTH-C-24, AUTH-C-28: {status} {body}");
        assert_eq!(web.asked(), [ANNOUNCED], "AUTH-C-28: {status} {body}");
    }
    let web = Arc::<Web>::default();
    web.json(AT_PATH, &metadata(SERVER));
    assert!(
        find(&web, &announce(ANNOUNCED), rules()).await.is_ok(),
        "AUTH-A-02"
    );
}

#[tokio::test]
async fn several_announced_documents_are_tried_in_turn() {
    let web = Arc::<Web>::default();
    web.page(ANNOUNCED, 200, "<html>");
    web.json(AT_ROOT, &metadata(SERVER));
    let header =
        format!(r#"Bearer resource_metadata="{ANNOUNCED}", resource_metadata="{AT_ROOT}""#);
    assert!(find(&web, &header, rules()).await.is_ok(), "AUTH-C-16");
    assert_eq!(web.asked(), [ANNOUNCED, AT_ROOT], "AUTH-C-16");
    let header = r#"Bearer resource_metadata="/relative", resource_metadata="not a url""#;
    assert!(find(&web, header, rules()).await.is_ok(), "AUTH-C-16");
    assert_eq!(web.asked(), [AT_PATH, AT_ROOT], "AUTH-C-16");
}

#[tokio::test]
async fn an_outage_does_not_lead_to_other_places_or_to_the_old_way() {
    for status in [500, 503, 408, 425, 429, LOST] {
        let web = Arc::<Web>::default();
        web.page(AT_PATH, status, "");
        web.json(AT_ROOT, &metadata(SERVER));
        let rules = DiscoveryRules {
            allows_legacy: true,
            ..rules()
        };
        let error = find(&web, "", rules).await.unwrap_err();
        assert!(
            matches!(error, AuthError::Unavailable(_)),
            "AUTH-C-23: {status}"
        );
        assert_eq!(web.asked(), [AT_PATH], "AUTH-C-23: {status}");
    }
}

#[tokio::test]
async fn metadata_are_cached_until_the_cache_is_bypassed() {
    let web = Arc::<Web>::default();
    web.json(AT_PATH, &metadata(SERVER));
    let discovery = discovery(&web, SERVER, rules());
    let server = SERVER.parse().unwrap();
    let mut request = ResourceRequest {
        server: &server,
        challenge: None,
        revision: None,
        accepts_legacy: true,
        bypass_cache: false,
        known: None,
    };
    let budget = Budget::discovery();
    for _ in 0..2 {
        discovery.resource(&request, &budget).await.unwrap();
    }
    assert_eq!(web.asked(), [AT_PATH]);
    let mut moved = metadata(SERVER);
    moved["authorization_servers"] = json!(["https://second.example", "https://as.example"]);
    moved["dpop_bound_access_tokens_required"] = json!(true);
    web.json(AT_PATH, &moved);
    request.bypass_cache = true;
    let found = discovery.resource(&request, &budget).await.unwrap();
    assert_eq!(
        found.issuers,
        ["https://second.example", "https://as.example"],
        "AUTH-C-30, AUTH-C-31"
    );
    assert!(
        found.metadata.unwrap().dpop_bound_access_tokens_required,
        "AUTH-C-32"
    );
}
