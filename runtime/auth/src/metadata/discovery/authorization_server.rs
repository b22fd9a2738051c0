//! Metadata of an authorization server, from the issuer that a resource lists.

use std::sync::{Arc, PoisonError};

use http::{HeaderMap, Uri};
use serde_json::{Map, Value};

use super::{Asked, Cached, Discovery, Place, ServerKey};
use crate::AuthError;
use crate::fetch::{Budget, quoted_url};
use crate::metadata::AuthorizationServerMetadata;
use crate::metadata::covers::origin;
use crate::metadata::well_known;

/// Maximum number of authorization servers with cached metadata.
const MAX_SERVERS: usize = 32;

/// An authorization server.
#[derive(Clone, Debug)]
pub(crate) struct FoundServer {
    pub(crate) metadata: Arc<AuthorizationServerMetadata>,
    /// The server publishes no metadata: its endpoints are those that 2025-03-26 assumes.
    pub(crate) is_assumed: bool,
}

impl Discovery {
    /// Returns the metadata of the authorization server with this issuer, byte for byte as a resource lists it.
    ///
    /// # Errors
    ///
    /// - [`AuthError::Forbidden`] for a URL or an address that the policy does not allow.
    /// - [`AuthError::Unavailable`] if a place of the document does not answer for now.
    /// - [`AuthError::Document`] if there is no document, or none with this issuer, or an invalid one.
    pub(crate) async fn authorization_server(
        &self,
        issuer: &str,
        budget: &Budget,
    ) -> Result<FoundServer, AuthError> {
        let key = ServerKey::Listed(issuer.to_owned());
        if let Some(cached) = self.cached_server(&key) {
            return Ok(cached);
        }
        let metadata = self.request_metadata(issuer, budget).await?;
        let found = FoundServer {
            metadata: Arc::new(metadata),
            is_assumed: false,
        };
        self.cache_server(key, &found);
        Ok(found)
    }

    async fn request_metadata(
        &self,
        issuer: &str,
        budget: &Budget,
    ) -> Result<AuthorizationServerMetadata, AuthError> {
        let url = self.fetcher.policy().check_url(issuer)?;
        let document = format!(
            "metadata of the authorization server {}",
            quoted_url(issuer)
        );
        if url.query().is_some() {
            let reason = "the issuer has a query, which RFC 8414 does not allow";
            return Err(AuthError::document(document, reason));
        }
        let (mut asked, mut other) = (Asked::default(), None);
        for place in well_known::of_issuer(&url) {
            match self.ask(&place, &HeaderMap::new(), budget).await? {
                Place::NotHere(reason) => asked.push(&place, &reason),
                Place::Found(members) => match self.accepted_issuer(issuer, &members) {
                    Some(found) => {
                        let document = format!("{document} at {}", quoted_url(&place));
                        let policy = self.fetcher.policy();
                        return AuthorizationServerMetadata::read(
                            &document, found, &members, policy,
                        );
                    }
                    None => other = Some((place, found_issuer(&members))),
                },
            }
        }
        Err(match other {
            Some((place, found)) => mismatch(&document, &place, issuer, &found),
            None => AuthError::document(
                document,
                format!(
                    "found at none of its places; {asked}. Check the issuer, or set another one"
                ),
            ),
        })
    }

    /// Returns the issuer of a document if it is the listed one, or the one that the caller accepts in its place.
    fn accepted_issuer<'a>(
        &self,
        listed: &str,
        members: &'a Map<String, Value>,
    ) -> Option<&'a str> {
        let found = members.get("issuer")?.as_str()?;
        let alias = self.rules.aliases.get(listed);
        (found == listed || alias.is_some_and(|alias| **alias == *found)).then_some(found)
    }

    /// Returns the authorization server that 2025-03-26 assumes at the origin of the MCP server.
    #[cfg(feature = "oauth")]
    pub(crate) async fn legacy_server(
        &self,
        server: &Uri,
        headers: &HeaderMap,
        budget: &Budget,
    ) -> Result<FoundServer, AuthError> {
        let origin = origin(server);
        let key = ServerKey::Assumed(origin.clone());
        if let Some(cached) = self.cached_server(&key) {
            return Ok(cached);
        }
        let place = well_known::of_legacy_server(server);
        let found = match self.ask(&place, headers, budget).await? {
            Place::NotHere(_) => FoundServer {
                metadata: Arc::new(AuthorizationServerMetadata::assumed(server)),
                is_assumed: true,
            },
            Place::Found(members) => {
                let document = format!(
                    "metadata of the authorization server {}",
                    quoted_url(&place)
                );
                let issuer = found_issuer(&members);
                if issuer.strip_suffix('/').unwrap_or(&issuer) != origin {
                    return Err(mismatch(&document, &place, &origin, &issuer));
                }
                let policy = self.fetcher.policy();
                let metadata =
                    AuthorizationServerMetadata::read(&document, &issuer, &members, policy)?;
                FoundServer {
                    metadata: Arc::new(metadata),
                    is_assumed: false,
                }
            }
        };
        self.cache_server(key, &found);
        Ok(found)
    }

    fn cached_server(&self, key: &ServerKey) -> Option<FoundServer> {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = servers.get(key).filter(|cached| cached.is_fresh());
        cached.map(|cached| cached.value.clone())
    }

    fn cache_server(&self, key: ServerKey, found: &FoundServer) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|_, cached| cached.is_fresh());
        if servers.len() >= MAX_SERVERS {
            servers.clear();
        }
        servers.insert(key, Cached::new(found.clone()));
    }
}

fn found_issuer(members: &Map<String, Value>) -> String {
    let issuer = members.get("issuer").and_then(Value::as_str);
    issuer.unwrap_or_default().to_owned()
}

fn mismatch(document: &str, place: &str, listed: &str, found: &str) -> AuthError {
    let found = if found.is_empty() {
        "is missing".to_owned()
    } else {
        format!("is {}", quoted_url(found))
    };
    let (place, listed) = (quoted_url(place), quoted_url(listed));
    AuthError::document(
        document,
        format!(
            "`issuer` at {place} {found}, but must be exactly {listed}; if this authorization server is trusted, accept its \
             issuer as an exception"
        ),
    )
}
