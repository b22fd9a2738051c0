//! Scopes to ask for.

use super::attempt::insufficient;
use crate::client::settings::Settings;
use crate::metadata::AuthorizationServerMetadata;
use crate::{AuthError, Scopes};

const OFFLINE_ACCESS: &str = "offline_access";

/// Sources of scopes. The list of the authorization server is none of them: it may contain scopes of administrators.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeSources<'a> {
    /// Scopes that were asked for or granted before.
    pub(super) before: &'a Scopes,
    /// Scopes of the challenge.
    pub(super) challenge: Option<&'a Scopes>,
    /// Scopes of a step-up: without them, the authorization would be in vain.
    pub(super) required: Option<&'a Scopes>,
    /// `scopes_supported` of the resource.
    pub(super) resource: Option<&'a Scopes>,
    /// Scopes that other calls wait for.
    pub(super) wanted: &'a Scopes,
}

/// Returns the scopes of a challenge without those that this client does not ask for. `None`: any scopes suffice.
pub(super) fn reduced(settings: &Settings, challenge: &Scopes) -> Option<Scopes> {
    if settings.scopes.is_some() {
        return None;
    }
    let filtered = match &settings.scope_filter {
        // A filter may add others, which the challenge does not require.
        Some(filter) => filter(challenge).intersection(challenge),
        None => challenge.clone(),
    };
    Some(filtered.without(OFFLINE_ACCESS))
}

/// Returns the scopes to ask for. Empty: the authorization server decides.
///
/// # Errors
///
/// If the filter of the settings removes scopes that a step-up requires, or if the record of the tokens would have too many scopes.
pub(super) fn plan(
    settings: &Settings,
    sources: ScopeSources<'_>,
    metadata: &AuthorizationServerMetadata,
    needs_user: bool,
) -> Result<Scopes, AuthError> {
    let challenge = sources.challenge.filter(|scopes| !scopes.is_empty());
    let given = settings.scopes.as_ref().or(challenge).or(sources.resource);
    let required = sources.required.cloned().unwrap_or_default();
    let given = given.cloned().unwrap_or_default().union(sources.before);
    let given = with_wanted(given.union(&required), sources.wanted);
    let filtered = match &settings.scope_filter {
        Some(filter) => filter(&given),
        None => given,
    };
    if !filtered.is_superset(&required) {
        return Err(insufficient(
            &required,
            "the scope filter of this client removes some of them",
        ));
    }
    check_number(&filtered.union(sources.before))?;
    let is_listed = metadata
        .scopes_supported
        .as_ref()
        .is_some_and(|scopes| scopes.iter().any(|scope| scope == OFFLINE_ACCESS));
    if !(is_listed && settings.offline_access && needs_user) {
        return Ok(filtered.without(OFFLINE_ACCESS));
    }
    // Alone, it would replace the default scopes of the authorization server.
    if filtered.is_empty() {
        return Ok(filtered);
    }
    Ok(filtered.with(OFFLINE_ACCESS))
}

/// Adds the scopes that other calls wait for, if there may be that many. An empty set remains empty: the authorization server decides.
fn with_wanted(given: Scopes, wanted: &Scopes) -> Scopes {
    let all = given.union(wanted);
    if given.is_empty() || all.len() >= Scopes::MAX_RECORDED {
        return given;
    }
    all
}

/// Checks the number of all scopes that were ever asked for. Tokens with more could not be read from the store again.
fn check_number(all: &Scopes) -> Result<(), AuthError> {
    if all.len() < Scopes::MAX_RECORDED {
        return Ok(());
    }
    let reason = format!(
        "the server has required {} scopes or more in total; `OAuth::logout` forgets those that are not needed any more",
        Scopes::MAX_RECORDED
    );
    Err(AuthError::NotAuthorized(reason.into()))
}
