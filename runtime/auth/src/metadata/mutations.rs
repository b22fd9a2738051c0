//! Changed and random documents: reading never panics, and yields no document that violates a rule.

use http::Uri;
use serde_json::{Map, Value, json};

use super::authorization_server::AuthorizationServerMetadata;
use super::resource::ProtectedResourceMetadata;
use crate::fetch::FetchPolicy;
use crate::mutation::mutate;

const ROUNDS: usize = 5_000;
const SERVER: &str = "https://mcp.example.com/tenant/mcp";
const ISSUER: &str = "https://id.example.com";

/// Values that appear in documents of attackers.
const TEXTS: [&str; 20] = [
    "https://mcp.example.com",
    "https://mcp.example.com/",
    "https://mcp.example.com/tenant",
    "https://mcp.example.com/tenant/mcp",
    "https://mcp.example.com/tenant/mcpevil",
    "https://mcp.example.com/tenant/mcp/../x",
    "https://mcp.example.com/%2e%2e/",
    "https://mcp.example.com.evil.example",
    "https://user@mcp.example.com/",
    "https://MCP.example.com:443/tenant",
    "https://mcp.example.com:8443/tenant",
    "http://mcp.example.com/tenant",
    "https://169.254.169.254/latest",
    "https://[::ffff:10.0.0.1]/token",
    "https://2130706433/token",
    "https://0x7f.1/token",
    "https://localhost./token",
    "javascript:alert(1)",
    "https://id.example.com/token\r\nx: y",
    "",
];

fn random_value(random: &mut fastrand::Rng, depth: usize) -> Value {
    match random.u8(..9) {
        0 => Value::Null,
        1 => json!(random.bool()),
        2 => json!(random.f64()),
        3 | 4 if depth > 0 => {
            let length = random.usize(..4);
            (0..length)
                .map(|_| random_value(random, depth - 1))
                .collect()
        }
        5 if depth > 0 => json!({ "a": random_value(random, depth - 1) }),
        _ => json!(TEXTS[random.usize(..TEXTS.len())]),
    }
}

/// Returns a document with changed text, or with random members.
fn random_document(random: &mut fastrand::Rng, document: &Value) -> Option<Map<String, Value>> {
    if random.bool() {
        return serde_json::from_str(&mutate(random, &document.to_string())).ok();
    }
    let mut members = document.as_object().cloned()?;
    for _ in 0..random.usize(1..=3) {
        let index = random.usize(..members.len());
        let name = members.keys().nth(index).cloned()?;
        members.insert(name, random_value(random, 2));
    }
    Some(members)
}

/// Returns true if `resource` covers the server, by another way than the reader's.
fn is_cover(resource: &str) -> bool {
    let Some(rest) = resource
        .get(..8)
        .filter(|scheme| scheme.eq_ignore_ascii_case("https://"))
    else {
        return false;
    };
    let rest = &resource[rest.len()..];
    let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let host = host.to_ascii_lowercase();
    let host = host
        .strip_suffix(":443")
        .or(host.strip_suffix(':'))
        .unwrap_or(&host);
    let prefixes = [
        "",
        "/",
        "/tenant",
        "/tenant/",
        "/tenant/mcp",
        "/tenant/mcp/",
    ];
    host == "mcp.example.com" && prefixes.contains(&path)
}

#[test]
fn changed_metadata_of_a_resource_covers_the_server_or_is_refused() {
    let mut random = fastrand::Rng::with_seed(11);
    let server = Uri::from_static(SERVER);
    let document = json!({
        "resource": "https://mcp.example.com/tenant",
        "authorization_servers": [ISSUER, "https://id.example.org"],
        "scopes_supported": ["files:read", "files:write"],
        "dpop_bound_access_tokens_required": false,
    });
    let mut accepted = 0;
    for _ in 0..ROUNDS {
        let Some(members) = random_document(&mut random, &document) else {
            continue;
        };
        let read = ProtectedResourceMetadata::read("metadata", &members, &server, false);
        let Ok(metadata) = read else { continue };
        accepted += 1;
        assert!(is_cover(&metadata.resource), "AUTH-C-25: {members:?}");
        assert_eq!(
            members["resource"], metadata.resource,
            "AUTH-C-26: byte for byte"
        );
        assert!(
            !metadata.authorization_servers.is_empty(),
            "AUTH-C-24: {members:?}"
        );
        assert_eq!(
            members["authorization_servers"],
            json!(metadata.authorization_servers)
        );
    }
    assert!(
        accepted > ROUNDS / 20,
        "some changes are harmless: {accepted}"
    );
}

#[test]
fn changed_metadata_of_an_authorization_server_has_public_endpoints_or_is_refused() {
    let mut random = fastrand::Rng::with_seed(12);
    let policy = FetchPolicy::default().for_server(&Uri::from_static(SERVER), None);
    let document = json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://id.example.com/authorize",
        "token_endpoint": "https://id.example.com/token",
        "registration_endpoint": "https://id.example.com/register",
        "jwks_uri": "https://keys.example.com/jwks",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    let mut accepted = 0;
    for _ in 0..ROUNDS {
        let Some(members) = random_document(&mut random, &document) else {
            continue;
        };
        let read = AuthorizationServerMetadata::read("metadata", ISSUER, &members, &policy);
        let Ok(metadata) = read else { continue };
        accepted += 1;
        let endpoints = [
            &metadata.authorization_endpoint,
            &metadata.token_endpoint,
            &metadata.registration_endpoint,
            &metadata.jwks_uri,
        ];
        for endpoint in endpoints.into_iter().flatten() {
            assert_public(endpoint);
        }
    }
    assert!(
        accepted > ROUNDS / 20,
        "some changes are harmless: {accepted}"
    );
}

/// AUTH-C-43, AUTH-C-128, AUTH-C-129
fn assert_public(endpoint: &str) {
    let is_https = endpoint
        .get(..8)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    assert!(is_https, "{endpoint:?}");
    // Names are judged by their addresses when a connection is opened.
    let hostile = ["169.254.", "10.0.0.1", "2130706433", "0x7f", "user@"];
    assert!(
        hostile.iter().all(|part| !endpoint.contains(part)),
        "{endpoint:?}"
    );
    assert!(
        !endpoint.chars().any(|c| c.is_control() || c == ' '),
        "{endpoint:?}"
    );
}
