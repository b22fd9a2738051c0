//! Metadata of a resource, from the challenge of its server or at its well-known places.

use std::sync::{Arc, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use treenail_http_client::url;
use treenail_runtime::client::Challenge;
use treenail_schema::Revision;

use super::{Asked, Cached, Discovery, Place};
use crate::AuthError;
use crate::fetch::{Budget, quoted_url};
use crate::metadata::covers::{canonical, origin};
use crate::metadata::resource::ProtectedResourceMetadata;
use crate::metadata::well_known;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Maximum number of announced URLs that are requested.
const MAX_ANNOUNCED: usize = 4;

/// Request for the metadata of an MCP server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceRequest<'a> {
    /// The URL of the server.
    pub(crate) server: &'a Uri,
    /// The challenge of its response, if it had one with the scheme `Bearer` or `DPoP`.
    pub(crate) challenge: Option<&'a Challenge>,
    /// The negotiated or preferred revision, for requests to the origin of the server.
    pub(crate) revision: Option<Revision>,
    /// The client accepts servers of 2025-03-26.
    pub(crate) accepts_legacy: bool,
    /// Requests the documents even if they are cached: the authorization server may have changed.
    pub(crate) bypass_cache: bool,
    /// `resource` and issuer of the tokens in use, which are the result if metadata are found nowhere.
    pub(crate) known: Option<(&'a str, &'a str)>,
}

/// A resource with its authorization servers.
#[derive(Clone, Debug)]
pub(crate) struct FoundResource {
    /// The parameter `resource` of requests; `None` for servers of 2025-03-26, which do not know it.
    pub(crate) resource: Option<String>,
    /// Issuers in the order of the server, at least one.
    pub(crate) issuers: Vec<String>,
    /// The metadata; `None` if the server publishes none.
    pub(crate) metadata: Option<Arc<ProtectedResourceMetadata>>,
    /// The server is its own authorization server, as in 2025-03-26: see [`Discovery::legacy_server`].
    pub(crate) is_legacy: bool,
}

impl Discovery {
    /// Returns the resource of a server, with the issuers of its authorization servers.
    ///
    /// # Errors
    ///
    /// - [`AuthError::Forbidden`] for a URL or an address that the policy does not allow.
    /// - [`AuthError::Unavailable`] if a place of the metadata does not answer for now.
    /// - [`AuthError::Document`] if the metadata are invalid or concern another resource, or if there are none and no issuer is
    ///   configured.
    pub(crate) async fn resource(
        &self,
        request: &ResourceRequest<'_>,
        budget: &Budget,
    ) -> Result<FoundResource, AuthError> {
        let announced = announced(request);
        if let Some(cached) = self.cached_resource(request, &announced) {
            return Ok(cached);
        }
        let mut asked = Asked::default();
        let metadata = match self
            .ask_announced(request, &announced, &mut asked, budget)
            .await?
        {
            Some(metadata) => Some(metadata),
            None => self.ask_well_known(request, &mut asked, budget).await?,
        };
        let found = match metadata {
            Some(metadata) => FoundResource {
                resource: Some(metadata.resource.clone()),
                issuers: metadata.authorization_servers.clone(),
                metadata: Some(Arc::new(metadata)),
                is_legacy: false,
            },
            None => self.without_metadata(request, &asked)?,
        };
        let mut cached = self.resource.lock().unwrap_or_else(PoisonError::into_inner);
        *cached = Some(Cached::new((announced, found.clone())));
        Ok(found)
    }

    fn cached_resource(
        &self,
        request: &ResourceRequest<'_>,
        announced: &[String],
    ) -> Option<FoundResource> {
        let cached = self.resource.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = cached.as_ref().filter(|cached| cached.is_fresh())?;
        let (known, found) = &cached.value;
        (!request.bypass_cache && *known == announced).then(|| found.clone())
    }

    /// Requests the announced documents. Returns `None` if there are none, which status 404 means.
    async fn ask_announced(
        &self,
        request: &ResourceRequest<'_>,
        announced: &[String],
        asked: &mut Asked,
        budget: &Budget,
    ) -> Result<Option<ProtectedResourceMetadata>, AuthError> {
        let mut failure = None;
        for url in announced {
            let document = document_name(url);
            let place = match self.check_scheme(request.server, url) {
                Ok(()) => self.ask(url, &headers(request, url), budget).await,
                Err(error) => Err(error),
            };
            let read = match place {
                Ok(Place::Found(members)) => ProtectedResourceMetadata::read(
                    &document,
                    &members,
                    request.server,
                    self.rules.strict_resource,
                ),
                Ok(Place::NotHere(reason)) => {
                    asked.push(url, &reason);
                    if reason.contains("404") {
                        let url = quoted_url(url);
                        tracing::warn!(url, "the announced resource metadata do not exist");
                        continue;
                    }
                    let reason =
                        format!("{reason}; the server must publish it where it announces it");
                    Err(AuthError::document(document, reason))
                }
                Err(error) => Err(error),
            };
            match read {
                Ok(metadata) => return Ok(Some(metadata)),
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
        }
        failure.map_or(Ok(None), Err)
    }

    async fn ask_well_known(
        &self,
        request: &ResourceRequest<'_>,
        asked: &mut Asked,
        budget: &Budget,
    ) -> Result<Option<ProtectedResourceMetadata>, AuthError> {
        for url in well_known::of_resource(request.server) {
            match self.ask(&url, &headers(request, &url), budget).await? {
                Place::Found(members) if ProtectedResourceMetadata::is_meant(&members) => {
                    let (document, is_strict) = (document_name(&url), self.rules.strict_resource);
                    let server = request.server;
                    return ProtectedResourceMetadata::read(&document, &members, server, is_strict)
                        .map(Some);
                }
                Place::Found(_) => asked.push(&url, "another JSON object"),
                Place::NotHere(reason) => asked.push(&url, &reason),
            }
        }
        Ok(None)
    }

    /// Returns the resource of a server that publishes no metadata.
    fn without_metadata(
        &self,
        request: &ResourceRequest<'_>,
        asked: &Asked,
    ) -> Result<FoundResource, AuthError> {
        let server = request.server;
        if let Some((resource, issuer)) = request.known {
            return Ok(FoundResource {
                resource: Some(resource.to_owned()),
                issuers: vec![issuer.to_owned()],
                metadata: None,
                is_legacy: false,
            });
        }
        if let Some(issuer) = &self.rules.issuer {
            return Ok(FoundResource {
                resource: Some(canonical(server)),
                issuers: vec![issuer.to_string()],
                metadata: None,
                is_legacy: false,
            });
        }
        if self.rules.allows_legacy && request.accepts_legacy {
            return Ok(FoundResource {
                resource: None,
                issuers: vec![origin(server)],
                metadata: None,
                is_legacy: true,
            });
        }
        let document = format!(
            "metadata of the resource {}",
            quoted_url(&canonical(server))
        );
        let reason = format!("found at none of its places; {asked}. Set the issuer of the server");
        Err(AuthError::document(document, reason))
    }

    /// Checks that metadata of an `https` server are not requested over `http`.
    fn check_scheme(&self, server: &Uri, url: &str) -> Result<(), AuthError> {
        let url = self.fetcher.policy().check_url(url)?;
        if server.scheme_str() == Some("https") && url.scheme_str() != Some("https") {
            let reason = "the metadata of an `https` server are announced at an `http` URL";
            return Err(AuthError::Forbidden(reason.into()));
        }
        Ok(())
    }
}

/// Returns the URLs that a challenge announces. A value that is not an absolute URL counts as absent.
fn announced(request: &ResourceRequest<'_>) -> Vec<String> {
    let values = request
        .challenge
        .into_iter()
        .flat_map(|challenge| challenge.values("resource_metadata"));
    let absolute =
        values.filter(|value| value.parse::<Uri>().is_ok_and(|url| url.host().is_some()));
    let mut urls: Vec<_> = absolute.map(str::to_owned).collect();
    urls.dedup();
    urls.truncate(MAX_ANNOUNCED);
    urls
}

/// Returns the headers of a request: the revision, at the origin of the server.
fn headers(request: &ResourceRequest<'_>, target: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let is_own = url::parse(target).is_ok_and(|url| url::is_same_origin(&url, request.server));
    if let Some(revision) = request.revision.filter(|_| is_own) {
        headers.insert(VERSION, HeaderValue::from_static(revision.as_str()));
    }
    headers
}

fn document_name(url: &str) -> String {
    format!("protected resource metadata at {}", quoted_url(url))
}
