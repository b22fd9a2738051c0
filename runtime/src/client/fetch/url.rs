//! URLs that requests go to.

use http::Uri;

use crate::client::ClientError;

/// The URL of a server: one of `http` or `https`, with a host, and without a user.
pub(crate) fn parse(text: &str) -> Result<Uri, ClientError> {
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
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address = address.unwrap_or(host).parse();
    address.is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        || host.eq_ignore_ascii_case("localhost")
}
