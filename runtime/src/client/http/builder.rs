//! How a session over HTTP is described before it begins.

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::client::fetch::engine::Engine;
use crate::client::fetch::url;
use crate::client::http::HttpSession;
use crate::client::http::headers::is_reserved;
use crate::client::http::shared::Shared;
use crate::client::{ClientError, ClientLimits};

/// Describes an [`HttpSession`]; made by [`HttpSession::builder`].
#[derive(Clone)]
#[must_use = "nothing is connected until it is built"]
#[cfg(feature = "http-client")]
pub struct HttpSessionBuilder {
    url: String,
    headers: Vec<(String, String)>,
    limits: ClientLimits,
}

impl fmt::Debug for HttpSessionBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secret, and so may what stands in a URL.
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("HttpSessionBuilder")
            .field("headers", &names)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl HttpSessionBuilder {
    pub(super) fn new(url: String) -> Self {
        Self {
            url,
            headers: Vec::new(),
            limits: ClientLimits::default(),
        }
    }

    /// A header of every request, such as `Authorization`. Further ones of the same name are sent too.
    ///
    /// It goes to the origin of the URL only: redirects to elsewhere are not followed. Headers that are the protocol's own, such as
    /// `Mcp-Session-Id` and `Accept`, cannot be set. Values are kept out of logs and of `Debug`.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The bounds, in place of the usual ones.
    pub fn limits(mut self, limits: ClientLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes the session. Nothing is sent before its first request.
    ///
    /// # Errors
    ///
    /// [`ClientError::Invalid`] if the URL is not one of `http` or `https`, or names a user, if a header cannot be sent, or if
    /// the environment names a proxy that is not supported; [`ClientError::Closed`] if the certificates of the system cannot
    /// be read.
    pub fn build(self) -> Result<HttpSession, ClientError> {
        let url = url::parse(&self.url)?;
        let headers = headers(&self.headers)?;
        let engine = Engine::new(&url, &self.limits)?;
        let shared = Shared::new(url, headers, engine, self.limits);
        Ok(HttpSession(Arc::new(shared)))
    }
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    for (text, value) in given {
        let invalid = |what: &str| {
            let name = crate::wire::quoted(text);
            ClientError::invalid(format!("the header {name} {what}"))
        };
        let name: HeaderName = text.parse().map_err(|_| invalid("has no valid name"))?;
        if is_reserved(&name) {
            return Err(invalid("belongs to the protocol"));
        }
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|_| invalid("has a value that cannot be sent"))?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}
