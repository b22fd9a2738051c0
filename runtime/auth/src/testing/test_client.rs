//! Clients that the authorization server knows.

use serde_json::Value;

use super::parameters::Parameters;

/// Client that is registered before the server starts.
///
/// Without redirect URIs, it may use `http://127.0.0.1/callback` and `http://[::1]/callback` with any port.
///
/// ```
/// use treenail::auth::testing::{TestAuthorizationServer, TestClient};
///
/// let server = TestAuthorizationServer::builder()
///     .client(TestClient::public("desktop"))
///     .client(TestClient::secret("service", "s3cret").redirect_uri("https://service.example/callback"))
///     .build();
/// # let _ = server;
/// ```
#[cfg(feature = "test-authorization")]
#[derive(Clone, Debug)]
pub struct TestClient {
    pub(super) id: String,
    pub(super) credential: Credential,
    pub(super) redirect_uris: Vec<String>,
    pub(super) refreshes: bool,
}

/// Credential that a client authenticates with.
#[derive(Clone, Debug)]
pub(super) enum Credential {
    None,
    /// `client_secret_basic` or `client_secret_post`.
    Secret(crate::Secret),
    /// `private_key_jwt` with a key of this JWK set.
    Keys(Value),
}

impl TestClient {
    /// Makes a client without a secret.
    pub fn public(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            credential: Credential::None,
            redirect_uris: Vec::new(),
            refreshes: true,
        }
    }

    /// Makes a client that authenticates with `client_secret_basic` or `client_secret_post`.
    pub fn secret(id: impl Into<String>, secret: impl Into<crate::Secret>) -> Self {
        Self {
            credential: Credential::Secret(secret.into()),
            ..Self::public(id)
        }
    }

    /// Makes a client that authenticates with `private_key_jwt`. `jwks` is the JWK set with its public keys.
    pub fn jwks(id: impl Into<String>, jwks: Value) -> Self {
        Self {
            credential: Credential::Keys(jwks),
            ..Self::public(id)
        }
    }

    /// Adds a redirect URI. The port of a loopback address may differ (RFC 8252, section 7.3).
    #[must_use]
    pub fn redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uris.push(uri.into());
        self
    }

    /// Returns true if a redirect to `uri` is allowed.
    pub(super) fn allows_redirect(&self, uri: &str) -> bool {
        const LOOPBACK: [&str; 2] = ["http://127.0.0.1/callback", "http://[::1]/callback"];
        let matches = |allowed: &str| allowed == uri || same_loopback(allowed, uri);
        if self.redirect_uris.is_empty() {
            return LOOPBACK.into_iter().any(matches);
        }
        self.redirect_uris.iter().any(|allowed| matches(allowed))
    }

    /// Returns true if it may use refresh tokens.
    pub(super) fn refreshes(&self) -> bool {
        self.refreshes
    }

    /// Returns the only redirect URI, which a request may leave out.
    pub(super) fn redirect_uri_of(&self, parameters: &Parameters) -> Option<String> {
        match (
            parameters.get("redirect_uri"),
            self.redirect_uris.as_slice(),
        ) {
            (Some(uri), _) => self.allows_redirect(uri).then(|| uri.to_owned()),
            (None, [only]) => Some(only.clone()),
            (None, _) => None,
        }
    }
}

/// Returns true if both are URIs of the same loopback address and differ in the port only.
fn same_loopback(allowed: &str, uri: &str) -> bool {
    for host in ["http://127.0.0.1", "http://[::1]"] {
        let (Some(allowed), Some(uri)) = (allowed.strip_prefix(host), uri.strip_prefix(host))
        else {
            continue;
        };
        return matches!((after_port(allowed), after_port(uri)), (Some(one), Some(other)) if one == other);
    }
    false
}

/// Returns the part after the port, if the port is valid.
fn after_port(rest: &str) -> Option<&str> {
    let Some(rest) = rest.strip_prefix(':') else {
        return (rest.is_empty() || rest.starts_with('/')).then_some(rest);
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (port, rest) = rest.split_at(end);
    (!port.starts_with('+') && port.parse::<u16>().is_ok()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_s_05_redirects_match_exactly_but_for_loopback_ports() {
        let client = TestClient::public("a")
            .redirect_uri("http://127.0.0.1/callback")
            .redirect_uri("https://app.example/back");
        for allowed in [
            "http://127.0.0.1/callback",
            "http://127.0.0.1:49152/callback",
            "https://app.example/back",
        ] {
            assert!(client.allows_redirect(allowed), "{allowed}");
        }
        for refused in [
            "http://127.0.0.1:49152/callback/",
            "http://127.0.0.1:49152/callback?x",
            "http://127.0.0.1:99999/callback",
            "http://127.0.0.1.evil.example/callback",
            "http://127.0.0.1:80@evil.example/callback",
            "http://[::1]/callback",
            "https://app.example:444/back",
            "https://app.example/back/",
        ] {
            assert!(!client.allows_redirect(refused), "{refused}");
        }
    }
}
