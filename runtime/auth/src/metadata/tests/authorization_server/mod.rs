//! Metadata of authorization servers.

mod cache;
mod members;

use super::*;
use crate::metadata::FoundServer;

async fn find(web: &Arc<Web>, issuer: &str) -> Result<FoundServer, AuthError> {
    find_with(web, issuer, DiscoveryRules::default()).await
}

async fn find_with(
    web: &Arc<Web>,
    issuer: &str,
    rules: DiscoveryRules,
) -> Result<FoundServer, AuthError> {
    let discovery = discovery(web, "https://mcp.example/mcp", rules);
    let budget = Budget::discovery();
    discovery.authorization_server(issuer, &budget).await
}

#[tokio::test]
async fn the_places_of_a_document_are_asked_in_order() {
    let cases: [(&str, &[&str]); 5] = [
        (
            "https://as.example",
            &[
                "https://as.example/.well-known/oauth-authorization-server",
                "https://as.example/.well-known/openid-configuration",
            ],
        ),
        (
            "https://as.example/",
            &[
                "https://as.example/.well-known/oauth-authorization-server",
                "https://as.example/.well-known/openid-configuration",
            ],
        ),
        (
            "https://as.example/tenant1",
            &[
                "https://as.example/.well-known/oauth-authorization-server/tenant1",
                "https://as.example/.well-known/openid-configuration/tenant1",
                "https://as.example/tenant1/.well-known/openid-configuration",
            ],
        ),
        (
            "https://AS.example:8443/a/b/",
            &[
                "https://as.example:8443/.well-known/oauth-authorization-server/a/b",
                "https://as.example:8443/.well-known/openid-configuration/a/b",
                "https://as.example:8443/a/b/.well-known/openid-configuration",
            ],
        ),
        (
            "https://as.example//",
            &[
                "https://as.example/.well-known/oauth-authorization-server/",
                "https://as.example/.well-known/openid-configuration/",
                "https://as.example//.well-known/openid-configuration",
            ],
        ),
    ];
    for (issuer, places) in cases {
        let web = Arc::<Web>::default();
        let error = find(&web, issuer).await.unwrap_err();
        assert_eq!(
            web.asked(),
            places,
            "AUTH-C-36, AUTH-C-37, AUTH-C-38: {issuer}"
        );
        let shown = error.to_string();
        assert!(places.iter().all(|place| shown.contains(place)), "{shown}");
        for (index, place) in places.iter().enumerate() {
            let web = Arc::<Web>::default();
            web.json(place, &document(issuer));
            let found = find(&web, issuer).await.unwrap();
            assert_eq!(found.metadata.issuer, issuer, "AUTH-C-35");
            assert_eq!(web.asked().len(), index + 1, "AUTH-C-35");
        }
    }
}

#[tokio::test]
async fn the_issuer_of_a_document_must_be_the_listed_one() {
    const PLACE: &str = "https://as.example/.well-known/oauth-authorization-server";
    for (listed, found) in [
        ("https://as.example", json!("https://as.example/")),
        ("https://as.example/", json!("https://as.example")),
        ("https://as.example", json!("https://AS.example")),
        ("https://as.example", json!("https://as.example:443")),
        ("https://as.example", json!("http://as.example")),
        ("https://as.example", json!("https://honest.example")),
        ("https://as.example", json!("")),
        ("https://as.example", json!(null)),
        ("https://as.example", json!(["https://as.example"])),
    ] {
        let web = Arc::<Web>::default();
        let mut metadata = document(listed);
        metadata["issuer"] = found.clone();
        web.json(PLACE, &metadata);
        let error = find(&web, listed).await.unwrap_err().to_string();
        assert!(error.contains(&format!("`{listed}`")), "AUTH-X-06: {error}");
        let found = found.as_str().unwrap_or_default();
        assert!(error.contains(found), "AUTH-C-39: {error}");
        assert_eq!(web.asked().len(), 2, "AUTH-C-39: the next place is asked");
    }
}

#[tokio::test]
async fn the_next_place_may_have_the_right_issuer() {
    let web = Arc::<Web>::default();
    let places = ["oauth-authorization-server", "openid-configuration"];
    let [first, second] = places.map(|name| format!("https://as.example/.well-known/{name}"));
    web.json(&first, &document("https://other.example"));
    web.json(&second, &document("https://as.example"));
    let found = find(&web, "https://as.example").await.unwrap();
    assert_eq!(found.metadata.issuer, "https://as.example", "AUTH-C-39");
}

#[tokio::test]
async fn one_exact_pair_of_issuers_can_be_excepted() {
    const PLACE: &str = "https://as.example/.well-known/oauth-authorization-server";
    let rules = DiscoveryRules {
        aliases: HashMap::from([("https://as.example".into(), "https://idp.example/x".into())]),
        ..DiscoveryRules::default()
    };
    for (found, is_accepted) in [
        ("https://idp.example/x", true),
        ("https://as.example", true),
        ("https://idp.example/x/", false),
        ("https://idp.example", false),
    ] {
        let web = Arc::<Web>::default();
        web.json(PLACE, &document(found));
        let result = find_with(&web, "https://as.example", rules.clone()).await;
        assert_eq!(result.is_ok(), is_accepted, "AUTH-C-40: {found}");
        if let Ok(server) = result {
            assert_eq!(
                server.metadata.issuer, found,
                "AUTH-C-40: `iss` has this value"
            );
        }
        let other = find_with(&web, "https://as.example/x", rules.clone()).await;
        assert!(other.is_err(), "AUTH-C-40");
    }
}

#[tokio::test]
async fn an_outage_is_no_reason_to_look_elsewhere() {
    const PLACE: &str = "https://as.example/.well-known/oauth-authorization-server";
    for status in [500, 502, 503, 408, 425, 429, LOST] {
        let web = Arc::<Web>::default();
        web.page(PLACE, status, "");
        let error = find(&web, "https://as.example").await.unwrap_err();
        assert!(
            matches!(error, AuthError::Unavailable(_)),
            "AUTH-C-44: {status} {error:?}"
        );
        assert_eq!(web.asked(), [PLACE], "AUTH-C-44");
    }
    for (status, body) in [
        (400, ""),
        (401, ""),
        (403, ""),
        (404, ""),
        (410, ""),
        (302, ""),
        (204, ""),
        (200, "<html>"),
        (200, "[]"),
        (200, ""),
    ] {
        let web = Arc::<Web>::default();
        web.page(PLACE, status, body);
        let other = "https://as.example/.well-known/openid-configuration";
        web.json(other, &document("https://as.example"));
        assert!(
            find(&web, "https://as.example").await.is_ok(),
            "AUTH-C-44: {status} {body}"
        );
    }
}

#[tokio::test]
async fn an_issuer_is_a_url_that_may_be_contacted() {
    for issuer in [
        "http://as.example",
        "https://as.example/?a=b",
        "https://as.example/#a",
        "https://169.254.169.254",
        "https://2130706433",
        "as.example",
        "",
        "https://me@as.example",
    ] {
        let web = Arc::<Web>::default();
        assert!(find(&web, issuer).await.is_err(), "AUTH-X-01: {issuer}");
        assert!(web.asked().is_empty(), "AUTH-X-01: {issuer}");
    }
}
