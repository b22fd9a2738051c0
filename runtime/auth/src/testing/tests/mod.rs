//! Tests of the authorization server, without network but for `listener`.

mod assertions;
mod clients;
mod code;
mod documents;
mod dpop;
mod faults;
mod listener;
mod refresh;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use serde_json::Value;

use super::TestAuthorizationServer;
use super::parameters::Parameters;
use super::respond::with_query;
use crate::jose::sha256_base64url;

const RESOURCE: &str = "https://files.example/mcp";
const REDIRECT: &str = "http://127.0.0.1:49152/callback";
const VERIFIER: &str = "a-verifier-of-43-characters-0123456789abcdef";

/// Response with its JSON document; `Null` if the body is no JSON.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    json: Value,
}

impl Answer {
    /// Returns the error code.
    fn error(&self) -> &str {
        self.json["error"].as_str().unwrap_or_default()
    }

    /// Returns a text of the document.
    fn text(&self, member: &str) -> String {
        self.json[member].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the parameters of the redirect.
    fn redirected(&self) -> Parameters {
        assert_eq!(self.status, StatusCode::FOUND, "{}", self.json);
        let location = self.headers["location"].to_str().unwrap();
        let (target, query) = location.split_once('?').unwrap();
        assert_eq!(target, REDIRECT);
        Parameters::parse(query)
    }
}

async fn send(server: &TestAuthorizationServer, request: Request<Bytes>) -> Answer {
    let (parts, body) = server.handle(request).await.unwrap().into_parts();
    Answer {
        status: parts.status,
        headers: parts.headers,
        json: serde_json::from_slice(&body).unwrap_or_default(),
    }
}

async fn get(server: &TestAuthorizationServer, target: &str) -> Answer {
    let request = Request::get(target).body(Bytes::new()).unwrap();
    send(server, request).await
}

/// Sends a form, with headers.
async fn post(
    server: &TestAuthorizationServer,
    path: &str,
    form: &[(&str, &str)],
    headers: &[(&str, &str)],
) -> Answer {
    let form = with_query("", form).split_off(1);
    let mut request =
        Request::post(path).header("content-type", "application/x-www-form-urlencoded");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(server, request.body(form.into()).unwrap()).await
}

/// Sends an authorization request of the client `app`. `changes` replace parameters; an empty value removes one.
async fn authorize(server: &TestAuthorizationServer, changes: &[(&str, &str)]) -> Answer {
    let challenge = sha256_base64url(VERIFIER);
    let mut pairs = vec![
        ("response_type", "code"),
        ("client_id", "app"),
        ("redirect_uri", REDIRECT),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("state", "s1"),
        ("resource", RESOURCE),
        ("scope", "files:read files:write"),
    ];
    pairs.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    pairs.extend_from_slice(changes);
    get(server, &with_query("/authorize", &pairs)).await
}

/// Redeems a code. `changes` as for [`authorize`].
async fn redeem(server: &TestAuthorizationServer, code: &str, changes: &[(&str, &str)]) -> Answer {
    let mut form = vec![
        ("grant_type", "authorization_code"),
        ("client_id", "app"),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
        ("resource", RESOURCE),
    ];
    form.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    form.extend_from_slice(changes);
    post(server, "/token", &form, &[]).await
}

/// Returns the answer with tokens for the user.
async fn login(server: &TestAuthorizationServer) -> Answer {
    let redirected = authorize(server, &[]).await.redirected();
    redeem(server, redirected.get("code").unwrap(), &[]).await
}

async fn refresh(server: &TestAuthorizationServer, token: &str, more: &[(&str, &str)]) -> Answer {
    let mut form = vec![("grant_type", "refresh_token"), ("client_id", "app")];
    form.push(("refresh_token", token));
    form.extend_from_slice(more);
    post(server, "/token", &form, &[]).await
}

/// Returns the introspection of a token by the client `service`.
async fn introspect(server: &TestAuthorizationServer, token: &str) -> Value {
    let basic = basic("service", "s3cret");
    let headers = [("authorization", basic.as_str())];
    post(server, "/introspect", &[("token", token)], &headers)
        .await
        .json
}

fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")))
}

/// Returns a builder with the clients `app` (public) and `service`.
fn builder() -> super::TestAuthorizationServerBuilder {
    TestAuthorizationServer::builder()
        .user("alice")
        .client(super::TestClient::public("app"))
        .client(super::TestClient::secret("service", "s3cret"))
}
