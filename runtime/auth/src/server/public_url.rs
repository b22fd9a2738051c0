//! Public URL of a protected resource.

use std::net::{Ipv4Addr, Ipv6Addr};

use iri_string::types::UriStr;

use crate::AuthError;

/// Path of metadata documents (RFC 9728, section 3).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Public URL of a protected resource, exactly as it was configured.
#[derive(Clone, Debug)]
pub(super) struct PublicUrl {
    pub(super) url: String,
    /// The host with its port, if it is not the default one. Clients leave the default port out of `Host`.
    pub(super) host: String,
    /// The path of the metadata document.
    pub(super) metadata_path: String,
    /// The URL of the metadata document.
    pub(super) metadata_url: String,
}

impl PublicUrl {
    /// Reads a URL of a resource.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] unless it is an https URL without user information and fragment. http is allowed for loopback.
    pub(super) fn parse(url: &str) -> Result<Self, AuthError> {
        check_url(url, "the URL of the resource")?;
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, format!("?{query}")),
            None => (rest, String::new()),
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let metadata_path = format!("{WELL_KNOWN}{}", path.strip_suffix('/').unwrap_or(path));
        let default_port = if scheme == "https" { ":443" } else { ":80" };
        Ok(Self {
            url: url.to_owned(),
            host: host.strip_suffix(default_port).unwrap_or(host).to_owned(),
            metadata_url: format!("{scheme}://{host}{metadata_path}{query}"),
            metadata_path,
        })
    }

    /// Returns true if a metadata document is at `path`: that of the resource, or that of the whole host.
    pub(super) fn is_metadata_path(&self, path: &str) -> bool {
        path == self.metadata_path || path == WELL_KNOWN
    }
}

/// Checks a URL that tokens or documents name: https, or http on this computer.
pub(super) fn check_url(url: &str, name: &str) -> Result<(), AuthError> {
    let invalid = |reason: &str| {
        let url = url.escape_debug();
        Err(AuthError::invalid(format!("{name} `{url}` {reason}")))
    };
    let Ok(uri) = UriStr::new(url) else {
        return invalid("is not a URL");
    };
    let Some(authority) = uri
        .authority_components()
        .filter(|it| !it.host().is_empty())
    else {
        return invalid("has no host");
    };
    if uri.fragment().is_some() {
        return invalid("has a fragment; remove it");
    }
    if authority.userinfo().is_some() {
        return invalid("contains user information; remove it");
    }
    match uri.scheme_str() {
        "https" => Ok(()),
        "http" if is_loopback(authority.host()) => Ok(()),
        "http" => invalid("is not encrypted; use `https`, also behind a proxy that ends TLS"),
        _ => invalid("is no https URL"),
    }
}

fn is_loopback(host: &str) -> bool {
    let v6 = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    host == "localhost"
        || host.parse().is_ok_and(|host: Ipv4Addr| host.is_loopback())
        || v6.is_some_and(|host| host.parse().is_ok_and(|host: Ipv6Addr| host.is_loopback()))
}

/// Returns true if an audience names the resource: equal, except for the bare slash that some servers add to an origin.
pub(super) fn is_same_resource(audience: &str, resource: &str) -> bool {
    let is_origin = |url: &str| {
        url.split_once("://")
            .is_some_and(|(_, rest)| !rest.contains('/'))
    };
    let adds_slash = |longer: &str, shorter: &str| {
        longer.strip_suffix('/') == Some(shorter) && is_origin(shorter)
    };
    audience == resource || adds_slash(audience, resource) || adds_slash(resource, audience)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_path_is_inserted_before_the_path() {
        let cases = [
            ("https://a.example", "a.example", "", ""),
            ("https://a.example/", "a.example", "", ""),
            ("https://a.example/mcp", "a.example", "/mcp", ""),
            (
                "https://a.example:8443/t/mcp/",
                "a.example:8443",
                "/t/mcp",
                "",
            ),
            (
                "http://127.0.0.1:80/mcp?tenant=1",
                "127.0.0.1:80",
                "/mcp",
                "?tenant=1",
            ),
        ];
        for (url, host, path, query) in cases {
            let public = PublicUrl::parse(url).unwrap();
            assert_eq!(
                public.metadata_path,
                format!("{WELL_KNOWN}{path}"),
                "AUTH-R-02"
            );
            let end = format!("://{host}{WELL_KNOWN}{path}{query}");
            assert!(
                public.metadata_url.ends_with(&end),
                "{}",
                public.metadata_url
            );
            assert_eq!(public.url, url, "it is unchanged");
        }
    }

    #[test]
    fn the_host_has_no_default_port() {
        let cases = [
            ("https://a.example:443/mcp", "a.example"),
            ("https://a.example:80", "a.example:80"),
            ("http://[::1]:80/mcp", "[::1]"),
            ("http://localhost:443", "localhost:443"),
        ];
        for (url, host) in cases {
            assert_eq!(PublicUrl::parse(url).unwrap().host, host, "{url}");
        }
    }

    #[test]
    fn urls_that_clients_must_not_trust_are_refused() {
        let cases = [
            "",
            "mcp",
            "/mcp",
            "https://",
            "https:///mcp",
            "https://a.example/mcp#x",
            "https://user@a.example/mcp",
            "http://a.example/mcp",
            "http://localhost.a.example/mcp",
            "ftp://a.example/mcp",
            "https://a.example/m cp",
            "https://a.example/\"",
        ];
        for url in cases {
            assert!(PublicUrl::parse(url).is_err(), "AUTH-R-03 AUTH-R-24: {url}");
        }
    }

    #[test]
    fn an_audience_differs_by_a_bare_slash_at_most() {
        let cases = [
            ("https://x", "https://x", true),
            ("https://x/", "https://x", true),
            ("https://x", "https://x/", true),
            ("https://x//", "https://x", false),
            ("https://x/mcp/", "https://x/mcp", false),
            ("https://x/mc", "https://x/mcp", false),
            ("https://x", "https://x/mcp", false),
            ("https://x:443", "https://x", false),
            ("HTTPS://x", "https://x", false),
            ("https://x.evil", "https://x", false),
        ];
        for (audience, resource, expected) in cases {
            assert_eq!(
                is_same_resource(audience, resource),
                expected,
                "AUTH-R-28: {audience}"
            );
        }
    }
}
