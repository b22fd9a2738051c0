//! URLs that requests go to.

use http::Uri;
use iri_string::types::{UriAbsoluteStr, UriReferenceStr};

use crate::client::ClientError;
use crate::wire::quoted;

/// The URL of a server: one of `http` or `https`, with a host, and without a user.
pub fn parse(text: &str) -> Result<Uri, ClientError> {
    // What stands behind it is for browsers.
    let text = text.split('#').next().unwrap_or_default();
    let url: Uri = text
        .parse()
        .map_err(|_| ClientError::invalid("that is not a URL"))?;
    let known = matches!(url.scheme_str(), Some("http" | "https"));
    let Some(authority) = url.authority().filter(|_| known) else {
        let why = "the URL of a server begins with `https://` or `http://`";
        return Err(ClientError::invalid(why));
    };
    if authority.as_str().contains('@') {
        let why = "a URL with a user in it; set the header `Authorization`";
        return Err(ClientError::invalid(why));
    }
    if authority.host().is_empty() {
        return Err(ClientError::invalid("the URL has no host"));
    }
    Ok(url)
}

/// Whether a host, as it stands in a URL, is this computer.
pub fn is_loopback(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address = address.unwrap_or(host).parse();
    address.is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        || host.eq_ignore_ascii_case("localhost")
}

/// The URL that a server refers to from `url`, which has to be of the same origin: a server must not send our headers
/// elsewhere.
///
/// # Errors
///
/// The reason, as the end of a sentence.
pub(crate) fn same_origin(url: &Uri, reference: &[u8]) -> Result<Uri, String> {
    let text = std::str::from_utf8(reference).unwrap_or_default();
    let base = url.to_string();
    let base = UriAbsoluteStr::new(&base).map_err(|_| "has nothing to be relative to")?;
    let reference = UriReferenceStr::new(text.trim()).map_err(|_| "is not a URI")?;
    let target = reference.resolve_against(base).to_string();
    // A fragment is not sent.
    let target = target.split('#').next().unwrap_or_default();
    let target: Uri = target.parse().map_err(|_| "is not a URL")?;
    if origin(&target).is_none() || origin(&target) != origin(url) {
        let host = quoted(target.host().unwrap_or_default());
        return Err(format!("is of another origin, {host}"));
    }
    Ok(target)
}

/// Scheme, host and port; `None` for a URL that names a user too.
fn origin(url: &Uri) -> Option<(String, String, u16)> {
    let authority = url.authority().filter(|one| !one.as_str().contains('@'))?;
    let scheme = url.scheme_str()?.to_ascii_lowercase();
    let usual = if scheme == "https" { 443 } else { 80 };
    let port = authority.port_u16().unwrap_or(usual);
    Some((scheme, authority.host().to_ascii_lowercase(), port))
}
