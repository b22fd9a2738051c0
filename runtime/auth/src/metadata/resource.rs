//! Metadata of a protected resource (RFC 9728).

use http::Uri;
use serde_json::{Map, Value};

use super::covers::{canonical, covers};
use super::members::Members;
use crate::fetch::quoted_url;
use crate::{AuthError, Scopes};

/// Metadata of a protected resource (RFC 9728, section 2).
#[derive(Clone, Debug)]
pub(crate) struct ProtectedResourceMetadata {
    /// The identifier of the resource, byte for byte.
    pub(crate) resource: String,
    /// Issuers of the authorization servers, at least one, byte for byte.
    pub(crate) authorization_servers: Vec<String>,
    /// `None` if the member is absent, or not a set of scopes.
    pub(crate) scopes_supported: Option<Scopes>,
    /// The server accepts only tokens that are bound to a DPoP key.
    pub(crate) dpop_bound_access_tokens_required: bool,
}

impl ProtectedResourceMetadata {
    /// Reads the metadata of `server`.
    ///
    /// # Errors
    ///
    /// [`AuthError::Document`] if a member is missing or invalid, or if the document concerns another resource.
    pub(super) fn read(
        document: &str,
        members: &Map<String, Value>,
        server: &Uri,
        is_strict: bool,
    ) -> Result<Self, AuthError> {
        let members = Members::new(document, members);
        let missing = "is missing; the server must name it (RFC 9728, section 2)";
        let resource = members.string("resource")?;
        let resource = resource.ok_or_else(|| members.invalid("resource", missing))?;
        if !covers(resource, server, is_strict) {
            let (found, expected) = (quoted_url(resource), quoted_url(&canonical(server)));
            let reason = if is_strict {
                "the strict mode demands the same URL"
            } else {
                "it must have the same scheme, host and port, and the same path or one above it"
            };
            let reason = format!(
                "is {found}, which does not cover the server {expected}: {reason}. Correct the URL of the server, or its metadata"
            );
            return Err(members.invalid("resource", &reason));
        }
        let servers = members.strings("authorization_servers")?;
        let servers = servers.filter(|servers| !servers.is_empty());
        let scopes = members.strings("scopes_supported")?;
        Ok(Self {
            resource: resource.to_owned(),
            authorization_servers: servers
                .ok_or_else(|| members.invalid("authorization_servers", missing))?,
            // A list that cannot be requested is not an error: the challenge may name scopes, or the caller.
            scopes_supported: scopes.and_then(|scopes| scopes.join(" ").parse().ok()),
            dpop_bound_access_tokens_required: members.flag("dpop_bound_access_tokens_required")?,
        })
    }

    /// Returns true if a JSON object is meant to be this document. Some servers answer each path with some object.
    pub(super) fn is_meant(members: &Map<String, Value>) -> bool {
        members.contains_key("resource") || members.contains_key("authorization_servers")
    }
}
