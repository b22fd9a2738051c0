//! Discovery of the metadata of a resource and of its authorization servers.

mod authorization_server;
#[cfg(feature = "oauth")]
mod resource;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use serde_json::{Map, Value};
use tokio::time::Instant;

pub(crate) use self::authorization_server::FoundServer;
#[cfg(feature = "oauth")]
pub(crate) use self::resource::{FoundResource, ResourceRequest};
use crate::AuthError;
use crate::fetch::{Budget, Fetcher, quoted_url};

/// Maximum age of a cached document.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// Rules of a discovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiscoveryRules {
    /// The `resource` of the metadata must be the URL of the server, not one above it.
    pub(crate) strict_resource: bool,
    /// Issuer of servers without metadata of their own.
    pub(crate) issuer: Option<Arc<str>>,
    /// Listed issuers, with the issuer that their metadata may have instead.
    pub(crate) aliases: HashMap<Arc<str>, Arc<str>>,
    /// Servers without metadata are their own authorization servers, as in 2025-03-26.
    pub(crate) allows_legacy: bool,
}

/// Finds the documents of one server, and caches them.
#[derive(Debug)]
pub(crate) struct Discovery {
    fetcher: Fetcher,
    rules: DiscoveryRules,
    #[cfg(feature = "oauth")]
    resource: Mutex<Option<CachedResource>>,
    servers: Mutex<HashMap<ServerKey, Cached<FoundServer>>>,
}

/// Key of the cached metadata of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ServerKey {
    /// The issuer that a resource lists.
    Listed(String),
    /// The origin at which 2025-03-26 assumes a server. Its endpoints may be assumed too, which no listed issuer permits.
    #[cfg(feature = "oauth")]
    Assumed(String),
}

/// A resource, with the announced URLs that led to it.
#[cfg(feature = "oauth")]
type CachedResource = Cached<(Vec<String>, FoundResource)>;

#[derive(Clone, Debug)]
struct Cached<T> {
    since: Instant,
    value: T,
}

impl<T> Cached<T> {
    fn new(value: T) -> Self {
        Self {
            since: Instant::now(),
            value,
        }
    }

    fn is_fresh(&self) -> bool {
        self.since.elapsed() < MAX_AGE
    }
}

/// One place of a document.
enum Place {
    Found(Map<String, Value>),
    /// The document is not at this place, for this reason.
    NotHere(String),
}

/// The places that were asked, for errors.
#[derive(Default)]
struct Asked(Vec<String>);

impl Asked {
    fn push(&mut self, url: &str, reason: &str) {
        self.0.push(format!("{} ({reason})", quoted_url(url)));
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "asked: {}", self.0.join(", "))
    }
}

impl Discovery {
    pub(crate) fn new(fetcher: Fetcher, rules: DiscoveryRules) -> Self {
        Self {
            fetcher,
            rules,
            #[cfg(feature = "oauth")]
            resource: Mutex::default(),
            servers: Mutex::default(),
        }
    }

    /// Removes the cached metadata of an authorization server, after one of its endpoints failed.
    #[cfg(feature = "oauth")]
    pub(crate) fn forget(&self, issuer: &str) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|key, found| {
            let (ServerKey::Listed(text) | ServerKey::Assumed(text)) = key;
            text != issuer && found.value.metadata.issuer != issuer
        });
    }

    /// Requests the document at one place.
    ///
    /// # Errors
    ///
    /// If the place does not answer for now. A short outage must not lead to another place.
    async fn ask(
        &self,
        url: &str,
        headers: &HeaderMap,
        budget: &Budget,
    ) -> Result<Place, AuthError> {
        let response = self.fetcher.get(url, headers, budget).await?;
        let status = response.status;
        if response.is_temporary() {
            let reason = format!("{} answered with HTTP status {status}", quoted_url(url));
            return Err(AuthError::Unavailable(reason.into()));
        }
        if status.is_redirection() {
            let reason = "a redirect that is not followed";
            return Ok(Place::NotHere(reason.to_owned()));
        }
        if status != http::StatusCode::OK {
            return Ok(Place::NotHere(format!("HTTP status {status}")));
        }
        Ok(match response.json() {
            Ok(members) => Place::Found(members),
            Err(reason) => Place::NotHere(reason.to_owned()),
        })
    }
}
