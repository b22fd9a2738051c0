//! Dynamic client registration (RFC 7591).

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::reply::{Failure, json_response};
use super::state::{Registration, Shared, random, seconds};
use super::test_client::{Credential, TestClient};

/// Registers a client.
pub(super) fn register(shared: &Shared, body: &Bytes) -> Result<Response<Bytes>, Failure> {
    let invalid = |description| Failure::new("invalid_client_metadata", description);
    if shared.settings.registration == Registration::None {
        let status = StatusCode::NOT_FOUND;
        let failure = invalid("there is no registration");
        return Err(Failure { status, ..failure });
    }
    let metadata: Map<String, Value> =
        serde_json::from_slice(body).map_err(|_| invalid("the body is no JSON object"))?;
    let redirect_uris = read_redirect_uris(&metadata)?;
    let grants = texts(&metadata, "grant_types").unwrap_or(vec!["authorization_code".to_owned()]);
    if redirect_uris.is_empty() && grants.iter().any(|grant| grant == "authorization_code") {
        let description = "`redirect_uris` is missing";
        return Err(Failure::new("invalid_redirect_uri", description));
    }
    let method = metadata.get("token_endpoint_auth_method");
    let method = method
        .and_then(Value::as_str)
        .unwrap_or("client_secret_basic");
    let credential = match method {
        "none" => Credential::None,
        "client_secret_basic" | "client_secret_post" => Credential::Secret(random().into()),
        "private_key_jwt" => Credential::Keys(metadata.get("jwks").cloned().unwrap_or_default()),
        _ => return Err(invalid("`token_endpoint_auth_method` is not supported")),
    };
    let client = TestClient {
        id: random(),
        credential,
        redirect_uris,
        refreshes: grants.iter().any(|grant| grant == "refresh_token"),
    };
    let mut state = shared.state();
    let issued_at = seconds(shared.now(&state));
    let document = describe(&client, metadata.clone(), method, issued_at);
    state.clients.insert(client.id.clone(), client);
    Ok(json_response(StatusCode::CREATED, &document))
}

/// Returns the metadata of the registered client.
fn describe(
    client: &TestClient,
    mut metadata: Map<String, Value>,
    method: &str,
    issued_at: u64,
) -> Value {
    metadata.insert("client_id".to_owned(), json!(client.id));
    metadata.insert("client_id_issued_at".to_owned(), json!(issued_at));
    metadata.insert("token_endpoint_auth_method".to_owned(), json!(method));
    if let Credential::Secret(secret) = &client.credential {
        metadata.insert("client_secret".to_owned(), json!(secret.expose()));
        metadata.insert("client_secret_expires_at".to_owned(), json!(0));
    }
    Value::Object(metadata)
}

/// Reads the redirect URIs, which are `https` or of a loopback host. The latter are not for clients of the type `web`.
fn read_redirect_uris(metadata: &Map<String, Value>) -> Result<Vec<String>, Failure> {
    let uris = texts(metadata, "redirect_uris").unwrap_or_default();
    let is_web = metadata.get("application_type").and_then(Value::as_str) == Some("web");
    let is_allowed = |uri: &String| {
        let hosts = ["http://127.0.0.1", "http://[::1]", "http://localhost"];
        let is_loopback = hosts.into_iter().any(|host| {
            let rest = uri.strip_prefix(host);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        });
        (uri.starts_with("https://") || (is_loopback && !is_web)) && !uri.contains('#')
    };
    if uris.iter().all(is_allowed) {
        return Ok(uris);
    }
    Err(Failure::new(
        "invalid_redirect_uri",
        "a redirect URI is neither `https` nor that of a native client on a loopback host",
    ))
}

/// Returns the texts of an array.
pub(super) fn texts(document: &Map<String, Value>, member: &str) -> Option<Vec<String>> {
    let items = document.get(member)?.as_array()?;
    Some(
        items
            .iter()
            .filter_map(|item| Some(item.as_str()?.to_owned()))
            .collect(),
    )
}
