//! Checks of the URLs that a user opens, of redirect URIs, and of servers that receive tokens.

use http::Uri;

use crate::AuthError;

/// Maximum length of a URL or a redirect, in bytes.
pub(crate) const MAX: usize = 32 * 1024;

/// Checks a URL that a browser will open: `https`, or `http` on this computer; no user name and no control character.
pub(crate) fn check_browser_url(url: &str) -> Result<Uri, AuthError> {
    let refuse =
        |reason: &str| AuthError::Forbidden(format!("the authorization URL {reason}").into());
    if url.len() > MAX {
        return Err(refuse("is too long"));
    }
    // A terminal or a launcher may interpret these, and none is a character of a URI.
    let is_uri = |byte: u8| {
        byte.is_ascii_graphic()
            && !matches!(
                byte,
                b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
            )
    };
    if !url.bytes().all(is_uri) {
        return Err(refuse("contains a character that is not allowed in a URL"));
    }
    let uri: Uri = url.parse().map_err(|_| refuse("is not a URL"))?;
    let Some(authority) = uri.authority() else {
        return Err(refuse("has no host"));
    };
    if authority.as_str().contains('@') {
        return Err(refuse("contains a user name"));
    }
    match uri.scheme_str() {
        Some("https") => Ok(uri),
        Some("http") if is_loopback(authority.host()) => Ok(uri),
        _ => Err(refuse(
            "must start with `https://`; `http://` is for this computer only",
        )),
    }
}

/// Checks a redirect URI of a client: `http` on this computer or `https`, without fragment and user name.
pub(crate) fn check_redirect_uri(uri: &str) -> Result<Uri, AuthError> {
    let invalid = || {
        let reason = format!(
            "the redirect URI {uri:?} must be `https`, or `http` on 127.0.0.1, [::1] or localhost, without fragment"
        );
        AuthError::invalid(reason)
    };
    let parsed = check_browser_url(uri).map_err(|_| invalid())?;
    if uri.contains('#') {
        return Err(invalid());
    }
    Ok(parsed)
}

/// Returns true if tokens are safe on their way to a server: over `https`, or to this computer.
pub(crate) fn may_receive_tokens(server: &Uri) -> bool {
    server.scheme_str() == Some("https") || server.host().is_some_and(is_loopback)
}

/// Returns true if a host of a URL is this computer.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address = address.unwrap_or(host).parse();
    address.is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        || host.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_urls_are_opened() {
        for url in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "vbscript:x",
            "ms-msdt:/id",
            "custom://example.com/x",
            "http://example.com/authorize",
            "http://localhost.example.com/authorize",
            "https://user@example.com/authorize",
            "https://user:pw@example.com/authorize",
            "https://example.com/a\nb",
            "https://example.com/a b",
            "https://example.com/\"quoted\"",
            "https://example.com/`id`",
            "https://example.com/a\u{7f}",
            "https:///authorize",
            "-flag",
            "--help",
            "",
        ] {
            assert!(check_browser_url(url).is_err(), "{url:?}");
        }
        for url in [
            "https://example.com/authorize?x=1&y=2",
            "https://example.com/$(id)&calc;'x'",
            "http://127.0.0.1:8080/authorize",
            "http://[::1]:8080/authorize",
            "http://localhost:8080/authorize",
        ] {
            assert!(check_browser_url(url).is_ok(), "{url:?}");
        }
    }

    #[test]
    fn redirects_return_to_this_computer_or_to_https() {
        for uri in ["http://127.0.0.1/callback", "https://example.com/callback"] {
            assert!(check_redirect_uri(uri).is_ok(), "{uri}");
        }
        for uri in [
            "http://example.com/callback",
            "com.example.app:/callback",
            "http://127.0.0.1/callback#part",
            "urn:ietf:wg:oauth:2.0:oob",
        ] {
            assert!(check_redirect_uri(uri).is_err(), "{uri}");
        }
    }
}
