//! Builders of clients, extended with connections over HTTP.

use std::sync::Arc;

use treenail_runtime::client::{
    ClientError, ClientLimits, McpClientBuilder, McpClientSessionBuilder, Session,
};
use treenail_runtime::internal::{HttpOptions, HttpTarget, with_http_target, with_session_builder};

use crate::builder::HttpSessionBuilder;
use crate::session::HttpSession;

/// Connections over HTTP, for the builders [`McpClientBuilder`] and [`McpClientSessionBuilder`]. The prelude of `treenail` imports
/// them.
///
/// ```
/// use treenail::client::{HttpClientBuilderExt, HttpSession, McpClient};
///
/// let builder = McpClient::builder().url("https://example.com/mcp");
///
/// let builder = McpClient::builder().url("https://example.com/mcp").bearer_token("…");
///
/// let http = HttpSession::builder("https://example.com/mcp").header("X-Tenant", "north");
/// let builder = McpClient::builder().http(http);
/// ```
pub trait HttpClientBuilderExt: Sized {
    /// Connects to a server over HTTP, at the URL of its endpoint.
    #[must_use = "`build` connects"]
    fn url(self, url: impl Into<String>) -> Self {
        self.http(HttpSession::builder(url))
    }

    /// Connects to a server over HTTP with a configured session, for example with additional headers. The limits of the builder
    /// replace those of `session`.
    #[must_use = "`build` connects"]
    fn http(self, session: HttpSessionBuilder) -> Self;
}

impl HttpClientBuilderExt for McpClientSessionBuilder {
    fn http(self, session: HttpSessionBuilder) -> Self {
        with_http_target(self, Box::new(session))
    }
}

impl HttpClientBuilderExt for McpClientBuilder {
    fn http(self, session: HttpSessionBuilder) -> Self {
        with_session_builder(self, |builder| builder.http(session))
    }
}

impl HttpTarget for HttpSessionBuilder {
    fn open(
        &self,
        limits: &ClientLimits,
        options: &HttpOptions,
    ) -> Result<Arc<dyn Session>, ClientError> {
        let mut builder = self.clone().limits(limits.clone());
        builder.only_revision = options.only_revision;
        if let Some(authorization) = &options.authorization {
            builder = builder.authorization(Arc::clone(authorization));
        }
        for (name, value) in &options.headers {
            builder = builder.header(name, value);
        }
        Ok(Arc::new(builder.build()?))
    }
}
