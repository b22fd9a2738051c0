//! URLs of a resource and of its metadata, compared with the URL of the server.

use std::sync::Arc;

use super::{AT_PATH, SERVER, announce, find, find_at, metadata, rules};
use crate::AuthError;
use crate::metadata::DiscoveryRules;
use crate::metadata::tests::Web;

#[tokio::test]
async fn the_resource_must_cover_the_server() {
    let cases = [
        ("https://mcp.example/mcp", true, true),
        ("https://MCP.example/mcp", true, true),
        ("https://mcp.example:443/mcp", true, true),
        ("https://mcp.example", true, false),
        ("https://mcp.example/", true, false),
        ("https://mcp.example/mcp/", true, false),
        ("https://mcp.example/mc", false, false),
        ("https://mcp.example/mcp/a", false, false),
        ("https://mcp.example/mcpevil", false, false),
        ("https://mcp.example/mcp/../x", false, false),
        ("https://mcp.example/mcp/%2e%2E/mcp", false, false),
        ("https://mcp.example/x/../mcp", false, false),
        ("https://mcp.example/mcp?x=y", false, false),
        ("https://mcp.example/mcp#x", false, false),
        ("https://mcp.example:8443/mcp", false, false),
        ("http://mcp.example/mcp", false, false),
        ("https://mcp.example.evil.example/mcp", false, false),
        ("https://evil.example/mcp", false, false),
        ("https://bank.example/", false, false),
        ("https://mcp.example@evil.example/mcp", false, false),
        ("https://me@mcp.example/mcp", false, false),
        ("urn:mcp", false, false),
        ("/mcp", false, false),
        ("", false, false),
    ];
    for (resource, by_default, if_strict) in cases {
        for (strict_resource, expected) in [(false, by_default), (true, if_strict)] {
            let web = Arc::<Web>::default();
            web.json(AT_PATH, &metadata(resource));
            let rules = DiscoveryRules {
                strict_resource,
                ..rules()
            };
            let found = find(&web, "", rules).await;
            assert_eq!(
                found.is_ok(),
                expected,
                "AUTH-C-25, AUTH-X-04: {resource} {strict_resource}"
            );
            assert_eq!(
                web.asked(),
                [AT_PATH],
                "AUTH-X-04: stops before the authorization server"
            );
            match found {
                Ok(found) => assert_eq!(found.resource.as_deref(), Some(resource), "AUTH-C-26"),
                Err(error) => assert!(error.to_string().contains(SERVER), "{error}"),
            }
        }
    }
}

#[tokio::test]
async fn metadata_may_be_at_another_origin_but_not_unencrypted() {
    let elsewhere = "https://metadata.example/mcp";
    let web = Arc::<Web>::default();
    web.json(elsewhere, &metadata(SERVER));
    assert!(
        find(&web, &announce(elsewhere), rules()).await.is_ok(),
        "AUTH-C-27"
    );
    assert_eq!(
        web.asked_with_revision(),
        [(elsewhere.to_owned(), None)],
        "AUTH-C-34"
    );
    web.json(elsewhere, &metadata("https://other.example/mcp"));
    assert!(
        find(&web, &announce(elsewhere), rules()).await.is_err(),
        "AUTH-C-27"
    );
    for url in [
        "http://metadata.example/",
        "https://169.254.169.254/",
        "https://[::ffff:10.0.0.1]/",
        "https://0x7f.1/",
        "https://localhost./",
    ] {
        web.asked();
        let result = find(&web, &announce(url), rules()).await;
        assert!(result.is_err(), "AUTH-X-01: {url}");
        assert!(web.asked().is_empty(), "AUTH-X-01: {url}");
    }
}

#[tokio::test]
async fn metadata_of_an_encrypted_server_on_this_computer_stay_encrypted() {
    let (server, url) = ("https://127.0.0.1/mcp", "http://127.0.0.1/metadata");
    let web = Arc::<Web>::default();
    web.json(url, &metadata(server));
    let refused = find_at(&web, server, &announce(url), rules()).await;
    assert!(matches!(refused, Err(AuthError::Forbidden(_))), "AUTH-C-27");
    assert!(web.asked().is_empty(), "AUTH-C-27");
}
