//! Scopes to ask for.

use crate::Scopes;
use crate::client::settings::Settings;
use crate::metadata::AuthorizationServerMetadata;

const OFFLINE_ACCESS: &str = "offline_access";

/// Sources of scopes. The list of the authorization server is none of them: it may contain scopes of administrators.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeSources<'a> {
    /// Scopes that were asked for or granted before.
    pub(super) before: &'a Scopes,
    /// Scopes of the challenge.
    pub(super) challenge: Option<&'a Scopes>,
    /// `scopes_supported` of the resource.
    pub(super) resource: Option<&'a Scopes>,
}

/// Returns the scopes to ask for. Empty: the authorization server decides.
pub(super) fn plan(
    settings: &Settings,
    sources: ScopeSources<'_>,
    metadata: &AuthorizationServerMetadata,
    needs_user: bool,
) -> Scopes {
    let challenge = sources.challenge.filter(|scopes| !scopes.is_empty());
    let given = settings.scopes.as_ref().or(challenge).or(sources.resource);
    let given = given.cloned().unwrap_or_default().union(sources.before);
    let filtered = match &settings.scope_filter {
        Some(filter) => filter(&given),
        None => given,
    };
    let is_listed = metadata
        .scopes_supported
        .as_ref()
        .is_some_and(|scopes| scopes.iter().any(|scope| scope == OFFLINE_ACCESS));
    if !(is_listed && settings.offline_access && needs_user) {
        return filtered.without(OFFLINE_ACCESS);
    }
    // Alone, it would replace the default scopes of the authorization server.
    if filtered.is_empty() {
        return filtered;
    }
    filtered.with(OFFLINE_ACCESS)
}
