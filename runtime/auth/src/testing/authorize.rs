//! Authorization endpoint and pushed authorization requests.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::json;

use super::client_authentication::authenticate;
use super::parameters::Parameters;
use super::reply::{Failure, json_response, redirect_response};
use super::request_values::{requested_resources, requested_scopes};
use super::respond::with_query;
use super::state::{Approval, Code, Grant, Pushed, Shared, State, random};
use super::test_client::TestClient;
use crate::Scopes;

/// Lifetime of authorization codes and pushed requests.
const LIFETIME: Duration = Duration::from_secs(60);
const REQUEST_URI: &str = "urn:ietf:params:oauth:request_uri:";

/// Answers an authorization request: with a redirect, or with an error if the client or its redirect URI is unknown.
pub(super) fn authorize(
    shared: &Shared,
    parameters: &Parameters,
) -> Result<Response<Bytes>, Failure> {
    let mut state = shared.state();
    let pushed = take_pushed(shared, &mut state, parameters)?;
    let parameters = pushed.as_ref().unwrap_or(parameters);
    let id = parameters.get("client_id");
    let client = id.and_then(|id| state.clients.get(id)).cloned();
    let client = client.ok_or(Failure::new("invalid_request", "the client is unknown"))?;
    let redirect_uri = client.redirect_uri_of(parameters);
    let redirect_uri = redirect_uri.ok_or(Failure::new(
        "invalid_request",
        "the redirect URI is not registered",
    ))?;
    let mut pairs = match grant_code(shared, &mut state, parameters, &client) {
        Ok(code) => {
            let value = random();
            let code = Code {
                redirect_uri: redirect_uri.clone(),
                ..code
            };
            state.codes.insert(value.clone(), code);
            vec![("code", value)]
        }
        Err(failure) => vec![
            ("error", failure.code.to_owned()),
            ("error_description", failure.description.to_owned()),
        ],
    };
    if let Some(value) = parameters.get("state") {
        pairs.push(("state", value.to_owned()));
    }
    pairs.push(("iss", shared.settings.issuer()));
    Ok(redirect_response(&with_query(&redirect_uri, &pairs)))
}

/// Checks the request and the decision of the user.
fn grant_code(
    shared: &Shared,
    state: &mut State,
    parameters: &Parameters,
    client: &TestClient,
) -> Result<Code, Failure> {
    let invalid = |description| Failure::new("invalid_request", description);
    if parameters.repeated().is_some() {
        return Err(invalid("a parameter occurs twice"));
    }
    if parameters.get("response_type") != Some("code") {
        return Err(Failure::new(
            "unsupported_response_type",
            "`response_type` must be `code`",
        ));
    }
    if parameters.get("code_challenge_method") != Some("S256") {
        return Err(invalid("`code_challenge_method` must be `S256`"));
    }
    let challenge = parameters.get("code_challenge").unwrap_or_default();
    if challenge.len() != 43 {
        return Err(invalid(
            "`code_challenge` must be a SHA-256 digest in base64url",
        ));
    }
    let resources = requested_resources(&shared.settings, parameters)?;
    let requested = requested_scopes(&shared.settings, parameters)?;
    let scopes = match &state.approval {
        Approval::All => requested,
        Approval::Only(allowed) => intersection(&requested, allowed),
        Approval::Denied => return Err(Failure::new("access_denied", "the user refused")),
    };
    Ok(Code {
        grant: Grant {
            id: random(),
            client: client.id.clone(),
            subject: state.user.clone(),
            scopes,
            resources,
            key: parameters.get("dpop_jkt").map(str::to_owned),
        },
        redirect_uri: String::new(),
        challenge: challenge.to_owned(),
        expires: shared.now(state) + LIFETIME,
        is_used: false,
    })
}

fn intersection(one: &Scopes, other: &Scopes) -> Scopes {
    let common: Vec<_> = one.iter().filter(|scope| other.contains(scope)).collect();
    common.join(" ").parse().unwrap_or_default()
}

/// Removes the pushed request that the parameters refer to.
fn take_pushed(
    shared: &Shared,
    state: &mut State,
    parameters: &Parameters,
) -> Result<Option<Parameters>, Failure> {
    let Some(uri) = parameters.get("request_uri") else {
        if shared.settings.requires_pushed {
            let reason = "the authorization request must be pushed";
            return Err(Failure::new("invalid_request", reason));
        }
        return Ok(None);
    };
    let now = shared.now(state);
    let pushed = state.pushed.remove(uri).filter(|pushed| {
        pushed.expires > now && Some(pushed.client.as_str()) == parameters.get("client_id")
    });
    let pushed = pushed.ok_or(Failure::new(
        "invalid_request_uri",
        "the pushed request is unknown or has expired",
    ))?;
    Ok(Some(Parameters::parse(&pushed.parameters)))
}

/// Answers a pushed authorization request.
pub(super) fn push(
    shared: &Shared,
    request: &Request<Bytes>,
    parameters: &Parameters,
) -> Result<Response<Bytes>, Failure> {
    let mut state = shared.state();
    let client = authenticate(shared, &mut state, request, parameters)?;
    if parameters.get("request_uri").is_some() {
        let reason = "`request_uri` cannot be pushed";
        return Err(Failure::new("invalid_request", reason));
    }
    if client.redirect_uri_of(parameters).is_none() {
        let reason = "the redirect URI is not registered";
        return Err(Failure::new("invalid_request", reason));
    }
    let uri = format!("{REQUEST_URI}{}", random());
    let mut pushed = String::from_utf8_lossy(request.body()).into_owned();
    if parameters.get("client_id").is_none() {
        pushed.push_str("&client_id=");
        pushed.push_str(&super::parameters::encode(&client.id));
    }
    let expires = shared.now(&state) + LIFETIME;
    let pushed = Pushed {
        client: client.id,
        parameters: pushed,
        expires,
    };
    state.pushed.insert(uri.clone(), pushed);
    let document = json!({ "request_uri": uri, "expires_in": LIFETIME.as_secs() });
    Ok(json_response(StatusCode::CREATED, &document))
}
