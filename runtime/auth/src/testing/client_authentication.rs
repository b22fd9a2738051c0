//! Authentication of clients.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Request;
use http::header::AUTHORIZATION;

use super::keys::{self, Members, read_text, read_time};
use super::parameters::{Parameters, decode};
use super::reply::Failure;
use super::state::{Shared, State};
use super::test_client::{Credential, TestClient};

/// Value of `client_assertion_type`.
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// Maximum lifetime of an assertion.
const MAX_LIFETIME: Duration = Duration::from_secs(300);

/// Returns the client of a request, which has authenticated with its method.
pub(super) fn authenticate(
    shared: &Shared,
    state: &mut State,
    request: &Request<Bytes>,
    parameters: &Parameters,
) -> Result<TestClient, Failure> {
    let basic = basic_credentials(request)?;
    let assertion = parameters.get("client_assertion");
    let posted = parameters.get("client_secret");
    let methods = [basic.is_some(), assertion.is_some(), posted.is_some()];
    if methods.into_iter().filter(|used| *used).count() > 1 {
        let reason = "the client authenticates with two methods";
        return Err(Failure::new("invalid_request", reason));
    }
    if let Some(assertion) = assertion {
        return by_assertion(shared, state, parameters, assertion);
    }
    let (id, secret) = match basic {
        Some((id, secret)) => (Some(id), Some(secret)),
        None => (
            parameters.get("client_id").map(str::to_owned),
            posted.map(str::to_owned),
        ),
    };
    let client = id.and_then(|id| state.clients.get(&id));
    let client = client.ok_or(Failure::client("the client is unknown"))?;
    let is_authentic = match (&client.credential, secret) {
        (Credential::None, None) => true,
        (Credential::Secret(expected), Some(secret)) => keys::is_equal(expected.expose(), &secret),
        _ => false,
    };
    if is_authentic {
        return Ok(client.clone());
    }
    Err(Failure::client("the client did not authenticate"))
}

/// Returns id and secret of HTTP Basic, which are form-encoded (RFC 6749, section 2.3.1).
fn basic_credentials(request: &Request<Bytes>) -> Result<Option<(String, String)>, Failure> {
    let Some(header) = request.headers().get(AUTHORIZATION) else {
        return Ok(None);
    };
    let invalid = || Failure::client("the header `Authorization` is malformed");
    let header = header.to_str().map_err(|_| invalid())?;
    let (scheme, credentials) = header.split_once(' ').ok_or_else(invalid)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(invalid());
    }
    let decoded = STANDARD.decode(credentials.trim()).map_err(|_| invalid())?;
    let decoded = String::from_utf8(decoded).map_err(|_| invalid())?;
    let (id, secret) = decoded.split_once(':').ok_or_else(invalid)?;
    Ok(Some((decode(id), decode(secret))))
}

/// Authenticates a client by a signed assertion (RFC 7523).
fn by_assertion(
    shared: &Shared,
    state: &mut State,
    parameters: &Parameters,
    assertion: &str,
) -> Result<TestClient, Failure> {
    let invalid = Failure::client;
    if parameters.get("client_assertion_type") != Some(ASSERTION_TYPE) {
        return Err(invalid("`client_assertion_type` is not `jwt-bearer`"));
    }
    let claims = keys::unverified_claims(assertion);
    let id = claims.as_ref().and_then(|claims| read_text(claims, "sub"));
    let client = id.and_then(|id| state.clients.get(id)).cloned();
    let client = client.ok_or(invalid("the client of the assertion is unknown"))?;
    let Credential::Keys(jwks) = &client.credential else {
        return Err(invalid("the client has no keys"));
    };
    let verified = keys::verify(assertion, jwks);
    let (_, claims) = verified.ok_or(invalid("the signature of the assertion is invalid"))?;
    if parameters
        .get("client_id")
        .is_some_and(|id| id != client.id)
    {
        return Err(invalid("`client_id` is not the subject of the assertion"));
    }
    let audiences = [shared.settings.issuer(), shared.settings.url("/token")];
    check_assertion(&claims, &client.id, &audiences, shared.now(state)).map_err(invalid)?;
    let unused = read_text(&claims, "jti");
    let unused = unused.is_some_and(|id| state.used_ids.insert(format!("{} {id}", client.id)));
    if !unused {
        return Err(invalid("the assertion has no `jti`, or was used before"));
    }
    Ok(client)
}

fn check_assertion(
    claims: &Members,
    id: &str,
    audiences: &[String],
    now: SystemTime,
) -> Result<(), &'static str> {
    if read_text(claims, "iss") != Some(id) {
        return Err("`iss` is not the client id");
    }
    if !keys::has_audience(claims, audiences) {
        return Err("`aud` is not this server");
    }
    let expires = read_time(claims, "exp").ok_or("`exp` is missing")?;
    if expires <= now || expires > now + MAX_LIFETIME + Duration::from_secs(60) {
        return Err("`exp` is past, or more than 5 minutes ahead");
    }
    Ok(())
}
