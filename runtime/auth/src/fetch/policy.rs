//! Judgement of URLs and addresses that a peer has named.

use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;
use treenail_http_client::{HttpClient, TlsConfig, url};
use treenail_schema::internal::{is_invisible, quoted};

use super::address::AddressClass;
use super::connection_settings::{ConnectionSettings, Connections};
use super::host::{is_host, known_address, literal, normalized};
use crate::AuthError;

/// Maximum length of a URL in bytes.
const MAX_URL_BYTES: usize = 4 * 1024;
/// Names of the metadata services of cloud machines.
const METADATA_HOSTS: [&str; 6] = [
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
];

/// Policy for URLs that a peer has named, such as those of an authorization server.
///
/// By default, only `https` URLs with public addresses are contacted. In addition, the class of addresses that the MCP server
/// itself has is allowed: a server in a private network may have an authorization server there, and one on this computer may
/// use `http` on this computer. The address is judged when a connection is opened, after its name was resolved, unless a proxy or an
/// [`http_client`](Self::http_client) opens it.
///
/// Cloud metadata services and 169.254.0.0/16 are never contacted. Behind a proxy or such a client, this applies to URLs alone: a URL
/// with another name, which resolves to one of them, is not refused.
///
/// ```
/// use treenail::auth::FetchPolicy;
///
/// let policy = FetchPolicy::default().allow_host("login.corp.example");
/// ```
#[cfg(any(feature = "oauth", feature = "authorization"))]
#[derive(Clone, Debug)]
pub struct FetchPolicy {
    /// Class of the addresses of the MCP server.
    server: AddressClass,
    /// Hosts with addresses of any network, in lower case.
    hosts: Vec<String>,
    is_relaxed: bool,
    connections: ConnectionSettings,
    /// Further hosts that the program has named, in lower case. They may see the certificate of the client.
    named: Vec<String>,
}

impl Default for FetchPolicy {
    fn default() -> Self {
        Self {
            server: AddressClass::Public,
            hosts: Vec::new(),
            is_relaxed: false,
            connections: ConnectionSettings::default(),
            named: Vec::new(),
        }
    }
}

impl FetchPolicy {
    /// Allows a host by its name or address, in every network. It must still use `https`.
    #[must_use]
    pub fn allow_host(mut self, host: impl AsRef<str>) -> Self {
        self.hosts.push(normalized(host.as_ref()));
        self
    }

    /// Allows `http`, and hosts in every network. Only for development: a malicious MCP server can then reach the network of
    /// this program.
    #[must_use]
    pub fn allow_everything(mut self) -> Self {
        self.is_relaxed = true;
        self
    }

    /// Sets the settings of TLS: trusted authorities, and a certificate of the client. A `rustls::ClientConfig` is accepted too.
    ///
    /// The certificate is presented only to hosts that the program has named: the MCP server, the issuer of
    /// `OAuth::prefer_issuer`, those of a verifier or a grant, and those of [`allow_host`](Self::allow_host). An MCP server could
    /// otherwise name any server as its authorization server, and have it called with the identity of the client.
    ///
    /// ```
    /// use treenail::auth::{FetchPolicy, OAuth, TlsConfig};
    ///
    /// let tls = TlsConfig::new().ca_file("corporate-ca.pem");
    /// let oauth = OAuth::browser("Travel planner").fetch_policy(FetchPolicy::default().tls(tls));
    /// ```
    #[must_use]
    pub fn tls(mut self, tls: impl Into<TlsConfig>) -> Self {
        self.connections.set_tls(tls.into());
        self
    }

    /// Sends the requests through an HTTP client of your own: see [`HttpClient`].
    ///
    /// URLs, sizes, times and redirects are checked as usual. **The client decides which addresses it dials**, as a proxy does: an address
    /// in a URL and the name `localhost` are judged here, but not the addresses of other names. A malicious MCP server can therefore have
    /// the client connect to each host that it resolves and reaches, over `https`. Give it a resolver or a proxy that refuses internal
    /// addresses, unless all servers are trusted. It must follow no redirects, and a client certificate or a cookie of it would be
    /// presented to every server that an MCP server names: [`tls`](Self::tls), which cannot be combined with it, presents one to named
    /// hosts only.
    ///
    /// ```
    /// use treenail::auth::{FetchPolicy, HttpClient, OAuth};
    ///
    /// fn sign_in(client: impl HttpClient) -> OAuth {
    ///     OAuth::browser("Travel planner").fetch_policy(FetchPolicy::default().http_client(client))
    /// }
    /// ```
    #[must_use]
    pub fn http_client(mut self, client: impl HttpClient) -> Self {
        self.connections.set_http_client(client);
        self
    }

    /// Takes the settings of connections from another policy.
    #[cfg(feature = "oauth")]
    pub(crate) fn connections_of(mut self, other: &Self) -> Self {
        self.connections.clone_from(&other.connections);
        self
    }

    /// Returns true if an HTTP client of the user sends the requests.
    #[cfg(feature = "oauth")]
    pub(crate) fn has_http_client(&self) -> bool {
        matches!(self.connections.to(false), Connections::Own(_))
    }

    /// Checks the settings of connections.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if a file cannot be used, or if settings contradict each other.
    pub(crate) fn check_connections(&self) -> Result<(), AuthError> {
        self.connections.check()
    }

    /// Returns the settings of the connections to a URL.
    pub(super) fn connections_to(&self, url: &Uri) -> Connections<'_> {
        let host = normalized(url.host().unwrap_or_default());
        let is_named = self.hosts.contains(&host) || self.named.contains(&host);
        self.connections.to(is_named)
    }

    /// Adds the host of a URL that the program has named. Its addresses are judged like those of others.
    pub(crate) fn name_host_of(mut self, url: &Uri) -> Self {
        self.named.extend(url.host().map(normalized));
        self
    }

    /// Returns the policy for the documents of an MCP server, with the address that it was reached at.
    pub(crate) fn for_server(mut self, server: &Uri, peer: Option<IpAddr>) -> Self {
        let host = server.host().unwrap_or_default();
        let is_encrypted = server.scheme() == Some(&Scheme::HTTPS);
        self.server = if url::is_loopback(host) {
            AddressClass::Loopback
        } else {
            // Without TLS, an attacker in control of the name server could choose the class.
            let of_name = peer.or_else(|| known_address(host));
            let address = literal(host).or_else(|| of_name.filter(|_| is_encrypted));
            address.map_or(AddressClass::Public, AddressClass::of)
        };
        self.name_host_of(server)
    }

    /// Checks a URL, before anything is resolved or sent.
    ///
    /// # Errors
    ///
    /// [`AuthError::Forbidden`].
    pub(crate) fn check_url(&self, text: &str) -> Result<Uri, AuthError> {
        let refuse = |reason: &str| {
            let text = quoted_url(text);
            AuthError::Forbidden(format!("{text} {reason}").into())
        };
        let is_visible = text.bytes().all(|byte| matches!(byte, b'!'..=b'~'));
        if text.len() > MAX_URL_BYTES || !is_visible {
            return Err(refuse("is not a URL of at most 4 KiB"));
        }
        if text.contains(['#', '\\', '"', '<', '>', '^', '`', '{', '|', '}']) {
            return Err(refuse(
                "has a fragment or a character that is not allowed in a URL",
            ));
        }
        let url = url::parse(text)
            .map_err(|_| refuse("is not a URL with a host and without a user name"))?;
        let host = url.host().unwrap_or_default();
        if !is_host(host) {
            return Err(refuse(
                "has neither a host name nor an address in its usual form",
            ));
        }
        let is_metadata = METADATA_HOSTS.contains(&&*normalized(host));
        if is_metadata {
            return Err(refuse("is a metadata service"));
        }
        if url.scheme() != Some(&Scheme::HTTPS) && !self.is_relaxed {
            if self.server != AddressClass::Loopback {
                return Err(refuse("does not use `https`"));
            }
            if !url::is_loopback(host) {
                return Err(refuse(
                    "does not use `https`, which is required outside of this computer",
                ));
            }
        }
        if let Some(address) = known_address(host) {
            self.check_address(&url, address)
                .map_err(|reason| AuthError::Forbidden(reason.into()))?;
        }
        Ok(url)
    }

    /// Decides on an address of a URL that was checked.
    pub(crate) fn check_address(&self, url: &Uri, address: IpAddr) -> Result<(), String> {
        let class = AddressClass::of(address);
        let host = url.host().unwrap_or_default();
        let is_encrypted = url.scheme() == Some(&Scheme::HTTPS);
        let is_allowed = match class {
            AddressClass::Forbidden => false,
            _ if self.is_relaxed => true,
            AddressClass::Loopback if !is_encrypted => self.server == AddressClass::Loopback,
            _ if !is_encrypted => false,
            AddressClass::Public => true,
            _ => class == self.server || self.hosts.contains(&normalized(host)),
        };
        if is_allowed {
            return Ok(());
        }
        let host = quoted(host);
        Err(match class {
            AddressClass::Forbidden | AddressClass::Public => {
                format!("{host} has the address {address}, which is never contacted in this way")
            }
            _ => format!(
                "{host} has the address {address} of another network than the MCP server; \
                 `FetchPolicy::allow_host` allows it"
            ),
        })
    }
}

/// Quotes a URL for a message: at most 256 characters, without invisible characters and without its query, which may contain
/// secrets.
pub(crate) fn quoted_url(url: &str) -> String {
    const MAX: usize = 256;
    let (url, mut quoted) = (without_query(url), String::from("`"));
    for character in url.chars().take(MAX) {
        match character {
            '`' => quoted.push('\''),
            hidden if is_invisible(hidden) => quoted.extend(hidden.escape_default()),
            other => quoted.push(other),
        }
    }
    let is_cut = url.chars().nth(MAX).is_some();
    quoted.push_str(if is_cut { "…`" } else { "`" });
    quoted
}

/// A URL without its query and without a user name.
fn without_query(url: &str) -> &str {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    if url[..end].contains('@') {
        return "the URL with a user name";
    }
    &url[..end]
}
