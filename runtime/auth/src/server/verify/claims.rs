//! Claims of access tokens (RFC 9068, section 2.2).

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use crate::Scopes;
use crate::jose::{JoseError, numeric_date, string};
use crate::server::{VerifiedToken, VerifyError};

/// Claims that only other tokens have: ID tokens, and logout and security event tokens.
const FOREIGN: [&str; 3] = ["at_hash", "c_hash", "events"];

/// The time, with the tolerated difference between the clocks of the issuer and of this server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    pub(super) now: SystemTime,
    pub(super) leeway: Duration,
}

/// Reads the claims of a token whose signature was verified.
pub(super) fn read_token(
    mut claims: Map<String, Value>,
    issuer: &str,
    time: Time,
) -> Result<VerifiedToken, VerifyError> {
    let expires_at = read_times(&claims, time).map_err(invalid)?;
    let token = read_members(&claims, issuer, expires_at).map_err(invalid)?;
    if time.now >= expires_at + time.leeway {
        return Err(VerifyError::Expired);
    }
    for name in ["iss", "sub", "aud", "exp", "client_id", "scope", "cnf"] {
        claims.remove(name);
    }
    Ok(VerifiedToken { claims, ..token })
}

fn invalid(reason: JoseError) -> VerifyError {
    tracing::debug!(%reason, "an access token is invalid");
    VerifyError::Invalid
}

/// Checks the times of a token, and returns that of its expiry.
fn read_times(claims: &Map<String, Value>, time: Time) -> Result<SystemTime, JoseError> {
    let latest = time.now + time.leeway;
    for name in ["nbf", "iat"] {
        if numeric_date(claims, name)?.is_some_and(|start| start > latest) {
            return Err(JoseError("the token is from the future"));
        }
    }
    numeric_date(claims, "exp")?.ok_or(JoseError("the token has no `exp`"))
}

fn read_members(
    claims: &Map<String, Value>,
    issuer: &str,
    expires_at: SystemTime,
) -> Result<VerifiedToken, JoseError> {
    if string(claims, "iss")? != Some(issuer) {
        return Err(JoseError("the token is of another issuer"));
    }
    if FOREIGN.iter().any(|name| claims.contains_key(*name)) {
        return Err(JoseError("the token is not an access token"));
    }
    let subject = string(claims, "sub")?.filter(|subject| !subject.is_empty());
    let subject = subject.ok_or(JoseError("the token has no `sub`"))?;
    let mut token = VerifiedToken::new(issuer, subject, read_audience(claims)?, expires_at);
    let client = match string(claims, "client_id")? {
        Some(client) => Some(client),
        None => string(claims, "azp")?,
    };
    token.client_id = client.map(str::to_owned);
    token.scopes = read_scopes(claims)?;
    token.key_thumbprint = read_binding(claims)?;
    Ok(token)
}

fn read_audience(claims: &Map<String, Value>) -> Result<Vec<String>, JoseError> {
    let error = JoseError("`aud` is neither a string nor an array of strings");
    match claims.get("aud") {
        Some(Value::String(audience)) => Ok(vec![audience.clone()]),
        Some(Value::Array(audiences)) if !audiences.is_empty() => audiences
            .iter()
            .map(|audience| audience.as_str().map(str::to_owned).ok_or(error))
            .collect(),
        _ => Err(error),
    }
}

/// Reads `scope`, or else `scp`: a text of scopes that are separated by spaces, or an array of scopes.
fn read_scopes(claims: &Map<String, Value>) -> Result<Scopes, JoseError> {
    let error = JoseError("the scopes are neither a string nor an array of scopes");
    // Clients collect scopes by step-ups, so a token may have more than a challenge.
    let read = |scopes: &str| {
        let invalid = JoseError("a scope is malformed, or there are more than 1,024");
        Scopes::from_record(scopes).ok_or(invalid)
    };
    match claims.get("scope").or_else(|| claims.get("scp")) {
        None => Ok(Scopes::default()),
        Some(Value::String(scopes)) => read(scopes),
        Some(Value::Array(scopes)) => {
            let is_one = |scope: &&str| !scope.is_empty() && !scope.contains(' ');
            let scopes = scopes
                .iter()
                .map(|scope| scope.as_str().filter(is_one).ok_or(error))
                .collect::<Result<Vec<_>, _>>()?;
            read(&scopes.join(" "))
        }
        Some(_) => Err(error),
    }
}

/// Reads the thumbprint of the key that the token is bound to. A token that is bound in another way, such as to a TLS
/// certificate, is refused: without its check it would be a bearer token.
fn read_binding(claims: &Map<String, Value>) -> Result<Option<String>, JoseError> {
    let error = JoseError("the token is bound in another way than to a DPoP key");
    let Some(binding) = claims.get("cnf") else {
        return Ok(None);
    };
    let binding = binding.as_object().ok_or(error)?;
    match string(binding, "jkt")? {
        Some(thumbprint) if binding.len() == 1 => Ok(Some(thumbprint.to_owned())),
        _ => Err(error),
    }
}
