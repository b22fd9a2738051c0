//! Scopes and resources of requests.

use iri_string::types::UriStr;

use super::parameters::Parameters;
use super::reply::Failure;
use super::state::Settings;
use crate::Scopes;

/// Returns the requested scopes, which are known.
pub(super) fn requested_scopes(
    settings: &Settings,
    parameters: &Parameters,
) -> Result<Scopes, Failure> {
    let text = parameters.get("scope").unwrap_or_default();
    let malformed = || Failure::new("invalid_scope", "a scope is malformed");
    let scopes = Scopes::from_record(text).ok_or_else(malformed)?;
    if settings.scopes.is_empty() || settings.scopes.is_superset(&scopes) {
        return Ok(scopes);
    }
    Err(Failure::new("invalid_scope", "a scope is unknown"))
}

/// Returns the requested resources, which are known. Without a request, the configured ones.
pub(super) fn requested_resources(
    settings: &Settings,
    parameters: &Parameters,
) -> Result<Vec<String>, Failure> {
    let requested: Vec<_> = parameters.all("resource").map(str::to_owned).collect();
    if requested.is_empty() {
        return Ok(settings.resources.clone());
    }
    let is_known = |resource: &String| {
        let is_absolute = UriStr::new(resource).is_ok_and(|uri| uri.fragment().is_none());
        is_absolute && (settings.resources.is_empty() || settings.resources.contains(resource))
    };
    if requested.iter().all(is_known) {
        return Ok(requested);
    }
    Err(Failure::new("invalid_target", "the resource is unknown"))
}

/// Returns the resources of a token request, which are some of those that were granted.
pub(super) fn narrowed_resources(
    granted: &[String],
    parameters: &Parameters,
) -> Result<Vec<String>, Failure> {
    let requested: Vec<_> = parameters.all("resource").map(str::to_owned).collect();
    if requested.is_empty() {
        return Ok(granted.to_vec());
    }
    if requested.iter().all(|resource| granted.contains(resource)) {
        return Ok(requested);
    }
    Err(Failure::new(
        "invalid_target",
        "the resource was not granted",
    ))
}
