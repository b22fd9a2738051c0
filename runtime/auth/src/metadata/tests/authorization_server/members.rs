//! Members of the document of an authorization server: their types, and the endpoints that may be contacted.

use std::sync::Arc;

use serde_json::json;

use super::find;
use crate::metadata::tests::{Web, document};

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

#[cfg(feature = "oauth")]
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
