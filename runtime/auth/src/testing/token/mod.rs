//! Token endpoint.

mod assertion;
mod code;
mod exchange;
pub(super) mod issue;
mod refresh;

use bytes::Bytes;
use http::{Request, Response, StatusCode};

use super::client_authentication::authenticate;
use super::dpop::proven_key;
use super::parameters::Parameters;
use super::reply::{Failure, json_response};
use super::request_values::{requested_resources, requested_scopes};
use super::state::{Grant, Shared, State, random};
use super::test_client::{Credential, TestClient};

pub(super) const CLIENT_CREDENTIALS: &str = "client_credentials";
pub(super) const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
pub(super) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// Token request of a client.
struct TokenRequest<'a> {
    shared: &'a Shared,
    state: &'a mut State,
    /// The client, which has authenticated. `None` if a workload's assertion is its only credential.
    client: Option<TestClient>,
    parameters: &'a Parameters,
    /// Thumbprint of the DPoP key.
    key: Option<String>,
}

/// Answers a token request.
pub(super) fn respond(
    shared: &Shared,
    request: &Request<Bytes>,
    parameters: &Parameters,
) -> Result<Response<Bytes>, Failure> {
    if parameters.repeated().is_some() {
        let reason = "a parameter occurs twice";
        return Err(Failure::new("invalid_request", reason));
    }
    let mut state = shared.state();
    let grant_type = parameters.get("grant_type").unwrap_or_default();
    let is_anonymous = grant_type == JWT_BEARER
        && parameters.get("client_id").is_none()
        && parameters.get("client_assertion").is_none()
        && !request.headers().contains_key("authorization");
    let client = if is_anonymous {
        None
    } else {
        Some(authenticate(shared, &mut state, request, parameters)?)
    };
    let key = proven_key(shared, &mut state, request)?;
    let request = TokenRequest {
        shared,
        state: &mut state,
        client,
        parameters,
        key,
    };
    let document = match grant_type {
        "authorization_code" => request.redeem_code(),
        "refresh_token" => request.refresh(),
        CLIENT_CREDENTIALS => request.grant_client(),
        TOKEN_EXCHANGE => request.exchange(),
        JWT_BEARER => request.redeem_assertion(),
        _ => Err(Failure::new(
            "unsupported_grant_type",
            "the grant type is unknown",
        )),
    }?;
    Ok(json_response(StatusCode::OK, &document))
}

impl TokenRequest<'_> {
    /// Returns the client, which all grants but `jwt-bearer` require.
    fn client(&self) -> Result<&TestClient, Failure> {
        let client = self.client.as_ref();
        client.ok_or(Failure::client("the client did not authenticate"))
    }

    /// Grants tokens to the client itself.
    fn grant_client(self) -> Result<serde_json::Value, Failure> {
        let client = self.client()?;
        if matches!(client.credential, Credential::None) {
            let reason = "a public client has no credentials";
            return Err(Failure::new("unauthorized_client", reason));
        }
        let grant = Grant {
            id: random(),
            client: client.id.clone(),
            subject: client.id.clone(),
            scopes: requested_scopes(&self.shared.settings, self.parameters)?,
            resources: requested_resources(&self.shared.settings, self.parameters)?,
            key: self.key.clone(),
        };
        Ok(issue::access_token(self.shared, self.state, &grant))
    }
}

/// Returns the error `invalid_grant`.
fn invalid_grant(description: &'static str) -> Failure {
    Failure::new("invalid_grant", description)
}
