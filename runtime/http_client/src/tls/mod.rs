//! TLS settings of connections: trusted authorities, and the certificate of the client.

mod client_config;
mod failure;
mod pem;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;

use self::pem::{Part, Source};

pub use self::client_config::{check_tls, without_client_certificate};
pub(crate) use self::failure::{describe, find, is_refusal};

/// TLS settings of connections to `https` URLs, for sessions over HTTP, the requests of authorization, and models.
///
/// By default, the certificates of the system are trusted, or those in `SSL_CERT_FILE`, and the client has no certificate. A proxy
/// from the environment tunnels the connection, so the settings apply to the server behind it.
///
/// ```no_run
/// use treenail::client::{HttpSession, TlsConfig};
/// use treenail::prelude::*;
///
/// # async fn connect() -> Result<(), ClientError> {
/// let tls = TlsConfig::new()
///     .ca_file("corporate-ca.pem")
///     .client_certificate_files("client.pem", "client.key");
/// let http = HttpSession::builder("https://mcp.corp.example/mcp").tls(tls);
/// let client = McpClient::builder().http(http).build().await?;
/// # Ok(())
/// # }
/// ```
///
/// Files are read when the session, or the first connection to an authorization server, is built. A session that is built later has
/// a certificate that has been renewed by then. Errors name the file and the block of it that cannot be used.
///
/// For everything else, such as a FIPS provider, pinned certificates or keys in hardware, there is `From<rustls::ClientConfig>`. Its
/// protocols of ALPN are used as they are; without any, `h2` and `http/1.1` are offered.
///
/// The key is not in the output of `Debug`, in logs or in errors.
#[derive(Clone)]
#[must_use = "settings do nothing until they are given to a builder"]
pub struct TlsConfig {
    authorities: Vec<Source>,
    has_system_roots: bool,
    identity: Option<Identity>,
    /// Configuration of the program, in place of all others.
    ready: Option<Arc<ClientConfig>>,
}

/// Certificate of the client, with its chain, and its key.
#[derive(Clone)]
struct Identity {
    chain: Source,
    key: Source,
}

impl TlsConfig {
    /// Returns the default settings.
    pub fn new() -> Self {
        Self {
            authorities: Vec::new(),
            has_system_roots: true,
            identity: None,
            ready: None,
        }
    }

    /// Trusts the authorities of a PEM file, beside those of the system.
    pub fn ca_file(self, path: impl Into<PathBuf>) -> Self {
        self.authority(Source::file(Part::Authorities, path.into()))
    }

    /// As [`ca_file`](Self::ca_file), for PEM in memory.
    pub fn ca_pem(self, pem: impl Into<Vec<u8>>) -> Self {
        self.authority(Source::text(Part::Authorities, pem.into()))
    }

    /// Trusts only the authorities of [`ca_file`](Self::ca_file) and [`ca_pem`](Self::ca_pem).
    pub fn without_system_roots(mut self) -> Self {
        self.has_system_roots = false;
        self
    }

    /// Sets the certificate that the client presents to servers that request one (mutual TLS), and its key, from PEM files.
    ///
    /// The certificate is the first one in its file; those of its intermediate authorities follow. Both may be in the same file. The
    /// key must not be encrypted.
    pub fn client_certificate_files(
        self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.identity(
            Source::file(Part::Certificate, certificate.into()),
            Source::file(Part::Key, key.into()),
        )
    }

    /// As [`client_certificate_files`](Self::client_certificate_files), for PEM in memory.
    pub fn client_certificate_pem(
        self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.identity(
            Source::text(Part::Certificate, certificate.into()),
            Source::text(Part::Key, key.into()),
        )
    }

    fn authority(mut self, source: Source) -> Self {
        self.authorities.push(source);
        self
    }

    fn identity(mut self, chain: Source, key: Source) -> Self {
        self.identity = Some(Identity { chain, key });
        self
    }
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl From<ClientConfig> for TlsConfig {
    fn from(config: ClientConfig) -> Self {
        Self::from(Arc::new(config))
    }
}

impl From<Arc<ClientConfig>> for TlsConfig {
    fn from(config: Arc<ClientConfig>) -> Self {
        Self {
            ready: Some(config),
            ..Self::new()
        }
    }
}

impl fmt::Debug for TlsConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A configuration of the program may show its key.
        let mut formatter = formatter.debug_struct("TlsConfig");
        formatter
            .field("authorities", &self.authorities)
            .field("has_system_roots", &self.has_system_roots);
        if let Some(Identity { chain, key }) = &self.identity {
            formatter.field("certificate", chain).field("key", key);
        }
        formatter.finish_non_exhaustive()
    }
}
