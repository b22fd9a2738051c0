//! Metadata of authorization servers.

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
#[allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]
async fn members_have_their_types_and_endpoints_are_allowed() {
    const PLACE: &str = "https://as.example/.well-known/oauth-authorization-server";
    let cases = [
        ("token_endpoint", json!("http://as.example/token"), false),
        (
            "token_endpoint",
            json!("https://169.254.169.254/token"),
            false,
        ),
        ("token_endpoint", json!("https://10.0.0.1/token"), false),
        (
            "authorization_endpoint",
            json!("javascript:alert(1)"),
            false,
        ),
        ("authorization_endpoint", json!("http://127.0.0.1/"), false),
        ("registration_endpoint", json!("file:///x"), false),
        ("jwks_uri", json!("https://0x7f.1/jwks"), false),
        ("revocation_endpoint", json!(7), false),
        (
            "pushed_authorization_request_endpoint",
            json!("https://[::ffff:10.0.0.1]/"),
            false,
        ),
        ("introspection_endpoint", json!("/introspect"), false),
        (
            "token_endpoint",
            json!("https://other.example/token?x=y"),
            true,
        ),
        ("registration_endpoint", json!(null), true),
        ("scopes_supported", json!("a b"), false),
        ("scopes_supported", json!(["a", 7]), false),
        ("code_challenge_methods_supported", json!({}), false),
        (
            "authorization_response_iss_parameter_supported",
            json!("true"),
            false,
        ),
        (
            "authorization_response_iss_parameter_supported",
            json!(true),
            true,
        ),
        ("unknown", json!({"a": [1]}), true),
    ];
    for (member, value, is_valid) in cases {
        let web = Arc::<Web>::default();
        let mut metadata = document("https://as.example");
        metadata[member] = value.clone();
        web.json(PLACE, &metadata);
        let result = find(&web, "https://as.example").await;
        assert_eq!(
            result.is_ok(),
            is_valid,
            "AUTH-C-43, AUTH-X-01: {member} {value}"
        );
        if let Err(error) = result {
            let shown = error.to_string();
            let names = shown.contains(&format!("`{member}`")) && shown.contains(PLACE);
            assert!(names, "AUTH-C-42: {shown}");
        }
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

#[tokio::test]
async fn a_document_is_cached_until_it_is_forgotten() {
    const PLACE: &str = "https://as.example/.well-known/oauth-authorization-server";
    let web = Arc::<Web>::default();
    web.json(PLACE, &document("https://as.example"));
    let discovery = discovery(&web, "https://mcp.example/mcp", DiscoveryRules::default());
    let budget = Budget::discovery();
    for _ in 0..2 {
        let found = discovery
            .authorization_server("https://as.example", &budget)
            .await;
        assert!(!found.unwrap().is_assumed);
    }
    assert_eq!(web.asked(), [PLACE], "AUTH-C-45");
    #[cfg(feature = "client")]
    {
        discovery.forget("https://as.example");
        let found = discovery
            .authorization_server("https://as.example", &budget)
            .await;
        assert!(found.is_ok());
        assert_eq!(web.asked(), [PLACE], "AUTH-C-45");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cached_document_expires() {
    const PLACE: &str = "https://as.example/.well-known/oauth-authorization-server";
    let web = Arc::<Web>::default();
    web.json(PLACE, &document("https://as.example"));
    let discovery = discovery(&web, "https://mcp.example/mcp", DiscoveryRules::default());
    for _ in 0..2 {
        let budget = Budget::discovery();
        let found = discovery
            .authorization_server("https://as.example", &budget)
            .await;
        assert!(found.is_ok());
        tokio::time::advance(std::time::Duration::from_secs(3_600)).await;
    }
    assert_eq!(web.asked(), [PLACE, PLACE], "AUTH-C-45");
}

#[cfg(feature = "client")]
#[tokio::test]
async fn a_code_needs_its_endpoint_and_its_response_type() {
    const PLACE: &str = "https://as.example/.well-known/oauth-authorization-server";
    for (member, value, is_usable) in [
        ("unknown", json!(1), true),
        ("response_types_supported", json!(null), true),
        ("response_types_supported", json!(["token", "code"]), true),
        ("response_types_supported", json!(["token"]), false),
        ("response_types_supported", json!([]), false),
        ("authorization_endpoint", json!(null), false),
    ] {
        let web = Arc::<Web>::default();
        let mut metadata = document("https://as.example");
        metadata[member] = value.clone();
        web.json(PLACE, &metadata);
        let found = find(&web, "https://as.example").await.unwrap();
        let endpoint = found.metadata.code_endpoint();
        assert_eq!(endpoint.is_ok(), is_usable, "AUTH-C-42: {member} {value}");
    }
}
