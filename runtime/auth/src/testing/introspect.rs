//! Introspection (RFC 7662) and revocation (RFC 7009).

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};

use super::client_authentication::authenticate;
use super::parameters::Parameters;
use super::reply::{Failure, empty_response, json_response};
use super::state::{AccessToken, Shared, State, seconds};
use super::test_client::Credential;
use super::token::issue::audience;

/// Describes a token to a client that has authenticated.
pub(super) fn introspect(
    shared: &Shared,
    request: &Request<Bytes>,
    parameters: &Parameters,
) -> Result<Response<Bytes>, Failure> {
    let mut state = shared.state();
    let client = authenticate(shared, &mut state, request, parameters)?;
    if matches!(client.credential, Credential::None) {
        return Err(Failure::client(
            "introspection requires a client with a credential",
        ));
    }
    let token = parameters.get("token").unwrap_or_default();
    let document = match active(shared, &state, token) {
        Some(token) => describe(shared, token),
        None => json!({ "active": false }),
    };
    Ok(json_response(StatusCode::OK, &document))
}

/// Returns an access token that is neither expired nor revoked.
pub(super) fn active<'a>(
    shared: &Shared,
    state: &'a State,
    token: &str,
) -> Option<&'a AccessToken> {
    let now = shared.now(state);
    let token = state.access_tokens.get(token)?;
    (token.expires > now && !token.is_revoked).then_some(token)
}

fn describe(shared: &Shared, token: &AccessToken) -> Value {
    let grant = &token.grant;
    let mut document = json!({
        "active": true,
        "iss": shared.settings.issuer(),
        "sub": grant.subject,
        "aud": audience(shared, grant),
        "client_id": grant.client,
        "scope": grant.scopes.to_string(),
        "iat": seconds(token.issued),
        "exp": seconds(token.expires),
        "token_type": "Bearer",
    });
    if let Some(key) = &grant.key {
        document["token_type"] = json!("DPoP");
        document["cnf"] = json!({ "jkt": key });
    }
    for (name, value) in &token.claims {
        if document.get(name).is_none() {
            document[name] = value.clone();
        }
    }
    document
}

/// Revokes a token of the client: an access token alone, a refresh token with all tokens of its grant.
pub(super) fn revoke(
    shared: &Shared,
    request: &Request<Bytes>,
    parameters: &Parameters,
) -> Result<Response<Bytes>, Failure> {
    let mut state = shared.state();
    let client = authenticate(shared, &mut state, request, parameters)?;
    let token = parameters.get("token").unwrap_or_default();
    if let Some(access_token) = state.access_tokens.get_mut(token) {
        access_token.is_revoked |= access_token.grant.client == client.id;
    }
    let refresh_token = state.refresh_tokens.get(token);
    let grant = refresh_token.filter(|refresh_token| refresh_token.grant.client == client.id);
    if let Some(id) = grant.map(|refresh_token| refresh_token.grant.id.clone()) {
        state.revoke_grant(&id);
    }
    Ok(empty_response(StatusCode::OK))
}
