//! Issue of tokens.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use crate::testing::keys::Members;
use crate::testing::state::{
    AccessToken, Grant, RefreshToken, RefreshTokens, Shared, State, TokenFormat, random, seconds,
};
use crate::testing::test_client::TestClient;

/// Issues an access token, and returns the response of the token endpoint.
pub(in crate::testing) fn access_token(shared: &Shared, state: &mut State, grant: &Grant) -> Value {
    let lifetime = shared.settings.token_lifetime;
    let claims = access_claims(shared, state, grant, lifetime);
    let token = match shared.settings.token_format {
        TokenFormat::Jwt => state.keys.sign("at+jwt", &Map::new(), &claims),
        TokenFormat::Opaque => random(),
    };
    record(shared, state, (&token, lifetime), grant, Map::new());
    let token_type = if grant.key.is_some() {
        "DPoP"
    } else {
        "Bearer"
    };
    let mut document = json!({
        "access_token": token,
        "token_type": token_type,
        "expires_in": lifetime.as_secs(),
    });
    if !grant.scopes.is_empty() {
        document["scope"] = json!(grant.scopes.to_string());
    }
    document
}

/// Issues an access token, and a refresh token if the client may use one.
pub(in crate::testing) fn tokens(
    shared: &Shared,
    state: &mut State,
    grant: &Grant,
    client: &TestClient,
) -> Value {
    let mut document = access_token(shared, state, grant);
    if shared.settings.refresh != RefreshTokens::None && client.refreshes() {
        document["refresh_token"] = json!(refresh_token(state, grant));
    }
    document
}

/// Issues a refresh token.
pub(in crate::testing) fn refresh_token(state: &mut State, grant: &Grant) -> String {
    let token = random();
    let refresh_token = RefreshToken {
        grant: grant.clone(),
        is_used: false,
        is_revoked: false,
    };
    state.refresh_tokens.insert(token.clone(), refresh_token);
    token
}

/// Returns the claims of an access token (RFC 9068).
pub(in crate::testing) fn access_claims(
    shared: &Shared,
    state: &State,
    grant: &Grant,
    lifetime: Duration,
) -> Members {
    let mut claims = common_claims(shared, state, lifetime);
    claims.insert("sub".to_owned(), json!(grant.subject));
    claims.insert("aud".to_owned(), audience(shared, grant));
    claims.insert("client_id".to_owned(), json!(grant.client));
    if !grant.scopes.is_empty() {
        claims.insert("scope".to_owned(), json!(grant.scopes.to_string()));
    }
    if let Some(key) = &grant.key {
        claims.insert("cnf".to_owned(), json!({ "jkt": key }));
    }
    claims
}

/// Returns issuer, times and id of a token.
pub(in crate::testing) fn common_claims(
    shared: &Shared,
    state: &State,
    lifetime: Duration,
) -> Members {
    let now: SystemTime = shared.now(state);
    let mut claims = Map::new();
    claims.insert("iss".to_owned(), json!(shared.settings.issuer()));
    claims.insert("iat".to_owned(), json!(seconds(now)));
    claims.insert("exp".to_owned(), json!(seconds(now + lifetime)));
    claims.insert("jti".to_owned(), json!(random()));
    claims
}

/// Returns the audience of a grant: a text if it has one resource, and the issuer if it has none.
pub(in crate::testing) fn audience(shared: &Shared, grant: &Grant) -> Value {
    match grant.resources.as_slice() {
        [] => json!(shared.settings.issuer()),
        [resource] => json!(resource),
        resources => json!(resources),
    }
}

/// Records an issued token, for introspection and revocation.
pub(in crate::testing) fn record(
    shared: &Shared,
    state: &mut State,
    (token, lifetime): (&str, Duration),
    grant: &Grant,
    claims: Members,
) {
    let issued = shared.now(state);
    let record = AccessToken {
        grant: grant.clone(),
        claims,
        issued,
        expires: issued + lifetime,
        is_revoked: false,
    };
    state.access_tokens.insert(token.to_owned(), record);
}
