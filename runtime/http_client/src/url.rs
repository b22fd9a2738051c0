//! Checks of request URLs.

use http::Uri;
use http::uri::{Authority, Scheme};
use iri_string::types::{UriAbsoluteStr, UriReferenceStr};

use crate::error::HttpError;
use treenail_schema::internal::quoted;

/// Parses the URL of a server. It must have the scheme `http` or `https` and a host, and no user name.
pub fn parse(text: &str) -> Result<Uri, HttpError> {
    // The fragment is not sent.
    let text = text.split('#').next().unwrap_or_default();
    let url: Uri = text
        .parse()
        .map_err(|_| HttpError::invalid("the text is not a URL"))?;
    let known = matches!(url.scheme_str(), Some("http" | "https"));
    let Some(authority) = url.authority().filter(|_| known) else {
        let reason = "the URL of a server must start with `https://` or `http://`";
        return Err(HttpError::invalid(reason));
    };
    if authority.as_str().contains('@') {
        let reason = "the URL contains a user name; set the header `Authorization` instead";
        return Err(HttpError::invalid(reason));
    }
    if authority.host().is_empty() {
        return Err(HttpError::invalid("the URL has no host"));
    }
    if port(authority, 0).is_none() {
        let reason = "the port of the URL is not a number up to 65535";
        return Err(HttpError::invalid(reason));
    }
    Ok(url)
}

/// Returns the port, or the default one if there is none. `None` if it is malformed: `Uri` accepts other texts in its place.
fn port(authority: &Authority, default: u16) -> Option<u16> {
    let rest = authority.as_str().strip_prefix(authority.host())?;
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some(default),
        Some("") => Some(default),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok(),
        _ => None,
    }
}

/// Returns the port of `url`, or the one of its scheme.
pub(crate) fn port_or_default(url: &Uri) -> u16 {
    url.port_u16().unwrap_or_else(|| default_port(url))
}

fn default_port(url: &Uri) -> u16 {
    if url.scheme() == Some(&Scheme::HTTPS) {
        443
    } else {
        80
    }
}

/// Returns host and port without a user name and a password.
pub(crate) fn without_user(authority: &Authority) -> &str {
    let text = authority.as_str();
    text.rsplit_once('@').map_or(text, |(_, address)| address)
}

/// Returns true if a host, as written in a URL, is this computer.
pub fn is_loopback(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address = address.unwrap_or(host).parse();
    address.is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        || host.eq_ignore_ascii_case("localhost")
}

/// Resolves a reference against `url`. The target must have the same origin: a server must not send our headers elsewhere.
///
/// # Errors
///
/// The reason, as a predicate such as "is not a URL".
pub fn same_origin(url: &Uri, reference: &[u8]) -> Result<Uri, String> {
    let text = std::str::from_utf8(reference).unwrap_or_default();
    let base = url.to_string();
    let base = UriAbsoluteStr::new(&base).map_err(|_| "cannot be resolved")?;
    let reference = UriReferenceStr::new(text.trim()).map_err(|_| "is not a URI")?;
    let target = reference.resolve_against(base).to_string();
    // The fragment is not sent.
    let target = target.split('#').next().unwrap_or_default();
    let target: Uri = target.parse().map_err(|_| "is not a URL")?;
    if origin(&target).is_none() || origin(&target) != origin(url) {
        let host = quoted(target.host().unwrap_or_default());
        return Err(format!("has another origin, {host}"));
    }
    Ok(target)
}

/// Returns true if two URLs have the same scheme, host and port, and no user name.
pub fn is_same_origin(one: &Uri, other: &Uri) -> bool {
    origin(one).is_some() && origin(one) == origin(other)
}

/// Scheme, host and port; `None` for a URL with a user name or a malformed port.
fn origin(url: &Uri) -> Option<(String, String, u16)> {
    let authority = url.authority().filter(|one| !one.as_str().contains('@'))?;
    let scheme = url.scheme_str()?.to_ascii_lowercase();
    let port = port(authority, default_port(url))?;
    Some((scheme, authority.host().to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_port_is_refused() {
        for refused in ["a:b", "a:65536", "a:+1", "a:1:2", "[::1]x", "[::1]:b"] {
            let url = format!("https://{refused}/mcp");
            assert!(parse(&url).is_err(), "{url}");
            let target = url.parse::<Uri>().ok();
            let origin = target.and_then(|target| origin(&target));
            assert!(origin.is_none(), "{url}");
        }
        for accepted in ["a", "a:", "a:443", "[::1]", "[::1]:8080"] {
            assert!(
                parse(&format!("https://{accepted}/mcp")).is_ok(),
                "{accepted}"
            );
        }
    }
}
