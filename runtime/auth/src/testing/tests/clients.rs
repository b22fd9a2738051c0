//! Authentication and registration of clients.

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Map, Value, json};

use super::{Answer, REDIRECT, basic, builder, post, send};
use crate::SigningKey;
use crate::jose::Algorithm;
use crate::testing::state::seconds;
use crate::testing::{TestAuthorizationServer, TestClient};

const GRANT: (&str, &str) = ("grant_type", "client_credentials");

#[tokio::test]
async fn auth_s_02_clients_authenticate_with_their_secret() {
    let client = TestClient::secret("a b", "p:ä%");
    let server = builder().client(client).build();
    let header = basic("a+b", "p%3A%C3%A4%25");
    let answer = post(&server, "/token", &[GRANT], &[("authorization", &header)]).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json);
    assert!(answer.json.get("refresh_token").is_none());
    let form = [GRANT, ("client_id", "a b"), ("client_secret", "p:ä%")];
    assert_eq!(
        post(&server, "/token", &form, &[]).await.status,
        StatusCode::OK
    );
    let both = post(&server, "/token", &form, &[("authorization", &header)]).await;
    assert_eq!(both.error(), "invalid_request");
    let wrong = [GRANT, ("client_id", "a b"), ("client_secret", "p:ä")];
    let wrong = post(&server, "/token", &wrong, &[]).await;
    assert_eq!(
        (wrong.status, wrong.error()),
        (StatusCode::UNAUTHORIZED, "invalid_client")
    );
    assert!(wrong.headers.contains_key("www-authenticate"));
    let none = post(&server, "/token", &[GRANT, ("client_id", "service")], &[]).await;
    assert_eq!(none.error(), "invalid_client");
    let public = post(&server, "/token", &[GRANT, ("client_id", "app")], &[]).await;
    assert_eq!(public.error(), "unauthorized_client");
}

/// Sends an assertion whose claims are changed.
async fn assert_client(
    server: &TestAuthorizationServer,
    key: &SigningKey,
    (name, value): (&str, Value),
) -> Answer {
    let now = seconds(server.now());
    let claims = json!({
        "iss": "job", "sub": "job", "aud": server.issuer(), "iat": now, "exp": now + 60, "jti": "1",
    });
    let mut claims: Map<String, Value> = serde_json::from_value(claims).unwrap();
    claims.insert(name.to_owned(), value);
    let assertion = key.sign(Algorithm::Es256, "JWT", &claims).unwrap();
    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    let form = [
        GRANT,
        ("client_assertion_type", kind),
        ("client_assertion", &assertion),
    ];
    post(server, "/token", &form, &[]).await
}

#[tokio::test]
async fn auth_s_02_clients_authenticate_with_their_key_once_an_assertion() {
    let key = SigningKey::generate().unwrap();
    let jwks = json!({ "keys": [key.public_jwk()] });
    let server = builder().client(TestClient::jwks("job", jwks)).build();
    let now = seconds(server.now());
    for refused in [
        ("aud", json!("https://other.example")),
        ("iss", json!("service")),
        ("exp", json!(now - 1)),
        ("exp", json!(now + 3600)),
        ("exp", json!("soon")),
        ("jti", Value::Null),
    ] {
        let answer = assert_client(&server, &key, refused.clone()).await;
        assert_eq!(answer.error(), "invalid_client", "{refused:?}");
    }
    let other = SigningKey::generate().unwrap();
    let answer = assert_client(&server, &other, ("jti", json!("1"))).await;
    assert_eq!(answer.error(), "invalid_client");
    let answer = assert_client(&server, &key, ("jti", json!("1"))).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json);
    let answer = assert_client(&server, &key, ("jti", json!("1"))).await;
    assert_eq!(answer.error(), "invalid_client");
}

async fn register(server: &TestAuthorizationServer, metadata: Value) -> Answer {
    let request = Request::post("/register").header("content-type", "application/json");
    let request = request.body(Bytes::from(metadata.to_string())).unwrap();
    send(server, request).await
}

#[tokio::test]
async fn auth_s_02_clients_register_themselves() {
    let server = builder().build();
    let metadata = json!({
        "redirect_uris": [REDIRECT],
        "client_name": "App",
        "application_type": "native",
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
    });
    let public = register(&server, metadata.clone()).await;
    assert_eq!(public.status, StatusCode::CREATED);
    assert_eq!(public.text("client_name"), "App");
    assert!(public.json.get("client_secret").is_none());
    let id = public.text("client_id");
    let redirected = super::authorize(&server, &[("client_id", &id)])
        .await
        .redirected();
    let code = redirected.get("code").unwrap();
    let tokens = super::redeem(&server, code, &[("client_id", &id)]).await;
    assert!(!tokens.text("refresh_token").is_empty());

    let confidential = register(&server, json!({ "redirect_uris": [REDIRECT] })).await;
    assert_eq!(
        confidential.text("token_endpoint_auth_method"),
        "client_secret_basic"
    );
    assert_eq!(confidential.json["client_secret_expires_at"], 0);
    assert!(!confidential.text("client_secret").is_empty());
}

#[tokio::test]
async fn registration_refuses_invalid_metadata() {
    let server = builder().build();
    let cases = [
        (
            json!({ "redirect_uris": ["http://app.example/callback"] }),
            "invalid_redirect_uri",
        ),
        (
            json!({ "redirect_uris": ["javascript:alert(1)"] }),
            "invalid_redirect_uri",
        ),
        (
            json!({ "redirect_uris": ["https://app.example/#x"] }),
            "invalid_redirect_uri",
        ),
        (json!({}), "invalid_redirect_uri"),
        (
            json!({ "redirect_uris": [REDIRECT], "application_type": "web" }),
            "invalid_redirect_uri",
        ),
        (
            json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "tls" }),
            "invalid_client_metadata",
        ),
        (json!([]), "invalid_client_metadata"),
    ];
    for (metadata, expected) in cases {
        let answer = register(&server, metadata.clone()).await;
        assert_eq!(answer.error(), expected, "{metadata}");
    }
    let server = builder().without_registration().build();
    let answer = register(&server, json!({ "redirect_uris": [REDIRECT] })).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_client_with_a_metadata_document_needs_no_registration() {
    let id = "https://app.example/client.json";
    let document = json!({
        "client_id": id,
        "client_name": "App",
        "redirect_uris": ["http://127.0.0.1/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
    });
    let server = builder().client_metadata(&document).build();
    let redirected = super::authorize(&server, &[("client_id", id)])
        .await
        .redirected();
    let code = redirected.get("code").unwrap();
    let tokens = super::redeem(&server, code, &[("client_id", id)]).await;
    assert!(!tokens.text("refresh_token").is_empty());
}
