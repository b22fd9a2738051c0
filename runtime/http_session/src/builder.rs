//! Builder of HTTP sessions.

use std::fmt;
#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use treenail_http_client::{HttpClient, Pool, PoolOptions, TlsConfig, url};
use treenail_runtime::client::{ClientError, ClientLimits, HttpAuthorization};
use treenail_schema::Revision;

use crate::from_http;
use crate::headers::is_reserved;
use crate::inner::Inner;
use crate::sender::Sender;
use crate::session::HttpSession;

/// Builder of an [`HttpSession`], returned by [`HttpSession::builder`].
#[derive(Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct HttpSessionBuilder {
    url: String,
    /// The only revision that the client accepts.
    pub(crate) only_revision: Option<Revision>,
    headers: Vec<(String, String)>,
    authorization: Option<Arc<dyn HttpAuthorization>>,
    limits: ClientLimits,
    http_client: Option<Arc<dyn HttpClient>>,
    tls: Option<TlsConfig>,
    #[cfg(unix)]
    unix_socket: Option<Arc<Path>>,
    #[cfg(feature = "dial")]
    dial: Option<Arc<dyn treenail_http_client::Dial>>,
}

impl fmt::Debug for HttpSessionBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Header values and the URL may contain secrets.
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("HttpSessionBuilder")
            .field("headers", &names)
            .field("authorization", &self.authorization)
            .field("limits", &self.limits)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

impl HttpSessionBuilder {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            only_revision: None,
            headers: Vec::new(),
            authorization: None,
            limits: ClientLimits::default(),
            http_client: None,
            tls: None,
            #[cfg(unix)]
            unix_socket: None,
            #[cfg(feature = "dial")]
            dial: None,
        }
    }

    /// Sets the connections in place of sockets.
    #[cfg(feature = "dial")]
    #[doc(hidden)]
    pub fn dial(mut self, dial: Arc<dyn treenail_http_client::Dial>) -> Self {
        self.dial = Some(dial);
        self
    }

    /// Adds a header to every request, such as `Authorization`. Several headers of the same name are all sent.
    ///
    /// Headers are sent to the origin of the URL only: redirects to another origin are not followed. Headers of the protocol,
    /// such as `Mcp-Session-Id` and `Accept`, cannot be set. Values do not appear in logs or in the output of `Debug`.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the credentials of the requests, which may change while the session runs. The OAuth client of `treenail::auth`
    /// implements them; an `Arc` of them is accepted too.
    pub fn authorization(mut self, authorization: impl HttpAuthorization) -> Self {
        self.authorization = Some(Arc::new(authorization));
        self
    }

    /// Sets the limits, in place of the defaults.
    pub fn limits(mut self, limits: ClientLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the settings of TLS for a URL with `https`: trusted authorities, and a certificate of the client. A
    /// `rustls::ClientConfig` is accepted too.
    ///
    /// They apply to every connection of the session, and to no other: redirects to another origin are not followed, and the requests of
    /// authorization have the settings of `treenail::auth::FetchPolicy::tls`.
    ///
    /// ```no_run
    /// # async fn connect() -> Result<(), treenail::ClientError> {
    /// use treenail::client::{HttpClientBuilderExt, HttpSession, McpClient, TlsConfig};
    ///
    /// let http = HttpSession::builder("https://mcp.corp.example/mcp")
    ///     .tls(TlsConfig::new().ca_file("corporate-ca.pem"));
    /// let client = McpClient::builder().http(http).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn tls(mut self, tls: impl Into<TlsConfig>) -> Self {
        self.tls = Some(tls.into());
        self
    }

    /// Connects over a Unix socket in place of the address in the URL, which is sent as usual: its host is the header `Host`. No
    /// proxy is used.
    ///
    /// The URL identifies the server of a stored authorization, so two sockets need different URLs, such as those with different ports or
    /// paths. The documents of authorization are requested over TCP, from the host and port in the URL.
    ///
    /// ```no_run
    /// # async fn connect() -> Result<(), treenail::ClientError> {
    /// use treenail::client::{HttpClientBuilderExt, HttpSession, McpClient};
    ///
    /// let http = HttpSession::builder("http://localhost/mcp").unix_socket("/run/mcp.sock");
    /// let client = McpClient::builder().http(http).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(unix)]
    pub fn unix_socket(mut self, path: impl Into<PathBuf>) -> Self {
        self.unix_socket = Some(path.into().into());
        self
    }

    /// Sends the requests of the session through an HTTP client of your own, such as a `tower` stack or an in-process `axum::Router`: see
    /// [`HttpClient`].
    ///
    /// Its connections are its own, so [`tls`](Self::tls) and [`unix_socket`](Self::unix_socket) cannot be combined with it, the variables of
    /// the environment for proxies and certificates play no role, and `HttpClientLimits::connect_timeout` does not apply. The requests of
    /// authorization have another client, that of `treenail::auth::FetchPolicy::http_client`.
    ///
    /// ```
    /// use treenail::client::{HttpClientBuilderExt, HttpSession, McpClient};
    /// use treenail::http::http_service;
    /// use treenail::Server;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // The HTTP service of a server is a client too: without a socket, for tests.
    /// let server = Server::builder("demo", "1.0.0").build()?;
    /// let http = HttpSession::builder("http://localhost/mcp").http_client(http_service(server));
    /// let client = McpClient::builder().http(http).build().await?;
    /// # client.close().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn http_client(mut self, client: impl HttpClient) -> Self {
        self.http_client = Some(Arc::new(client));
        self
    }

    /// Creates the session. Nothing is sent before its first request.
    ///
    /// # Errors
    ///
    /// - [`ClientError::Invalid`] if the URL has another scheme than `http` or `https`, or contains a user name; if a header
    ///   cannot be sent; if the environment configures an unsupported proxy; if a certificate or key of [`tls`](Self::tls) cannot be
    ///   used; if the URL with these settings has `http`; or if [`http_client`](Self::http_client) is combined with settings of
    ///   connections.
    /// - [`ClientError::Unreachable`] if the certificates of the system cannot be read.
    pub fn build(self) -> Result<HttpSession, ClientError> {
        let url = url::parse(&self.url).map_err(from_http)?;
        let headers = headers(&self.headers)?;
        let pool = self.pool(&url)?;
        Ok(HttpSession(Inner::new(Sender {
            url,
            only_revision: self.only_revision,
            headers,
            authorization: self.authorization,
            pool,
            limits: self.limits,
        })))
    }

    fn pool(&self, url: &Uri) -> Result<Pool, ClientError> {
        #[cfg(feature = "dial")]
        if let Some(dial) = &self.dial {
            return Ok(Pool::dialed(&self.limits.http, Arc::clone(dial)));
        }
        if let Some(client) = &self.http_client {
            self.check_connection_settings()?;
            return Ok(Pool::with_client(&self.limits.http, Arc::clone(client)));
        }
        let options = PoolOptions {
            tls: self.tls.as_ref(),
            guard: None,
            #[cfg(unix)]
            unix_socket: self.unix_socket.clone(),
        };
        Pool::with_options(url, &self.limits.http, options).map_err(from_http)
    }

    /// Refuses settings of connections, which an HTTP client of the user opens itself.
    fn check_connection_settings(&self) -> Result<(), ClientError> {
        let is_set = [
            ("tls", self.tls.is_some()),
            #[cfg(unix)]
            ("unix_socket", self.unix_socket.is_some()),
        ];
        match is_set.iter().find(|(_, is_set)| *is_set) {
            None => Ok(()),
            Some((name, _)) => Err(ClientError::invalid(format!(
                "`{name}` cannot be combined with `http_client`, which opens its connections itself: configure it there"
            ))),
        }
    }
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    for (text, value) in given {
        let invalid = |reason: &str| {
            let name = treenail_schema::internal::quoted(text);
            ClientError::invalid(format!("the header {name} {reason}"))
        };
        let name: HeaderName = text.parse().map_err(|_| invalid("has an invalid name"))?;
        if is_reserved(&name) {
            return Err(invalid("is set by the protocol"));
        }
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|_| invalid("has a value that cannot be sent"))?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}
