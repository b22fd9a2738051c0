//! Route to an origin: direct, through a proxy from the environment, or over a Unix socket.

use std::fmt;
#[cfg(unix)]
use std::path::Path;
#[cfg(unix)]
use std::sync::Arc;

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::Matcher;

use crate::error::HttpError;
use crate::url::{is_loopback, port_or_default, without_user};

/// Route to the origin of a session.
#[derive(Clone)]
pub(crate) enum Route {
    Direct,
    /// A proxy that tunnels bytes, for `https`.
    Tunnel(Uri, Option<HeaderValue>),
    /// A proxy that forwards requests, for `http`.
    Forward(Uri, Option<HeaderValue>),
    /// A Unix socket of this computer.
    #[cfg(unix)]
    UnixSocket(Arc<Path>),
}

/// Station between the client and the server, for errors.
#[derive(Debug)]
pub(crate) enum Via {
    /// Host and port of a proxy, without its credentials.
    Proxy(Box<str>),
    #[cfg(unix)]
    UnixSocket(Arc<Path>),
}

impl fmt::Display for Via {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proxy(address) => {
                write!(formatter, "the proxy at {address} from the environment")
            }
            #[cfg(unix)]
            Self::UnixSocket(path) => write!(formatter, "the Unix socket `{}`", path.display()),
        }
    }
}

impl Route {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`. Loopback addresses never use a proxy.
    pub(crate) fn to(url: &Uri) -> Result<Self, HttpError> {
        let no_proxy = std::env::var("NO_PROXY").or_else(|_| std::env::var("no_proxy"));
        if is_exempt(url, &no_proxy.unwrap_or_default()) {
            return Ok(Self::Direct);
        }
        Self::with_proxies(&Matcher::from_env(), url)
    }

    fn with_proxies(proxies: &Matcher, url: &Uri) -> Result<Self, HttpError> {
        let proxy = proxies.intercept(url);
        let Some(proxy) = proxy.filter(|_| !is_loopback(url.host().unwrap_or_default())) else {
            return Ok(Self::Direct);
        };
        if proxy.uri().scheme_str() != Some("http") {
            let reason = "the environment configures an unsupported proxy; use one with `http://`";
            return Err(HttpError::invalid(reason));
        }
        let authorization = proxy.basic_auth().cloned();
        Ok(match url.scheme_str() {
            Some("https") => Self::Tunnel(proxy.uri().clone(), authorization),
            _ => Self::Forward(proxy.uri().clone(), authorization),
        })
    }

    /// Returns the station between the client and the server.
    pub(crate) fn via(&self) -> Option<Via> {
        match self {
            Self::Direct => None,
            Self::Tunnel(proxy, _) | Self::Forward(proxy, _) => {
                let address = proxy.authority().map_or("", without_user);
                Some(Via::Proxy(address.into()))
            }
            #[cfg(unix)]
            Self::UnixSocket(path) => Some(Via::UnixSocket(Arc::clone(path))),
        }
    }

    /// Value of `Proxy-Authorization` in each request, if the proxy forwards requests.
    pub(crate) fn request_authorization(&self) -> Option<HeaderValue> {
        match self {
            Self::Forward(_, authorization) => authorization.clone().map(sensitive),
            _ => None,
        }
    }
}

fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

/// Returns true if `NO_PROXY` has the entry `*`, or an entry with the port of `url` that matches its host. The matcher compares
/// `*` with names only, and no ports.
fn is_exempt(url: &Uri, no_proxy: &str) -> bool {
    no_proxy.split(',').map(str::trim).any(|entry| {
        let with_port = entry.rsplit_once(':').filter(|(host, port)| {
            // Other colons belong to an address without a port.
            let is_host = !host.contains(':') || host.ends_with(']');
            is_host && port.parse() == Ok(port_or_default(url))
        });
        entry == "*" || with_port.is_some_and(|(host, _)| matches_host(url, host))
    })
}

fn matches_host(url: &Uri, entry: &str) -> bool {
    let entry = entry.trim_start_matches('[').trim_end_matches(']');
    let matcher = Matcher::builder().all("http://proxy").no(entry).build();
    matcher.intercept(url).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_route_depends_on_scheme_host_and_proxy() {
        let proxies = Matcher::builder()
            .all("http://me:secret@proxy:3128")
            .no("inside.example")
            .build();
        let cases = [
            ("http://example.com/", "forward true"),
            ("https://example.com/", "tunnel true"),
            ("https://inside.example/", "direct"),
            ("http://127.0.0.1:80/", "direct"),
            ("http://127.9.9.9/", "direct"),
            ("http://[::1]:80/", "direct"),
            ("http://localhost/", "direct"),
        ];
        for (url, expected) in cases {
            let route = Route::with_proxies(&proxies, &Uri::from_static(url)).unwrap();
            let in_requests = route.request_authorization().is_some();
            let got = match route {
                Route::Direct => "direct".to_owned(),
                Route::Tunnel(_, authorization) => {
                    assert!(
                        !in_requests,
                        "the server must not receive the proxy credentials"
                    );
                    format!("tunnel {}", authorization.is_some())
                }
                Route::Forward(..) => format!("forward {in_requests}"),
                #[cfg(unix)]
                Route::UnixSocket(_) => unreachable!("only a caller selects a Unix socket"),
            };
            assert_eq!(got, expected, "{url}");
        }
        let socks = Matcher::builder().all("socks5://proxy:1").build();
        let refused = Route::with_proxies(&socks, &Uri::from_static("http://example.com/"));
        assert!(matches!(refused, Err(HttpError::Invalid(_))));
    }

    #[test]
    fn no_proxy_has_a_wildcard_and_ports() {
        for (no_proxy, url, is_direct) in [
            ("*", "http://10.255.255.1/mcp", true),
            ("a.example, *", "https://[fd00::1]/mcp", true),
            ("*.example", "http://10.255.255.1/mcp", false),
            ("a.example:8080", "http://a.example:8080/mcp", true),
            (".a.example:8080", "http://b.a.example:8080/mcp", true),
            ("a.example:443", "https://a.example/mcp", true),
            ("a.example:8080", "http://a.example/mcp", false),
            ("a.example:8080", "http://b.example:8080/mcp", false),
            ("10.0.0.1:80", "http://10.0.0.1/mcp", true),
            ("[fd00::1]:80", "http://[fd00::1]/mcp", true),
            ("fd00::80", "http://[fd00::]/mcp", false),
            ("", "http://a.example/mcp", false),
        ] {
            let url = Uri::from_static(url);
            assert_eq!(is_exempt(&url, no_proxy), is_direct, "{no_proxy}: {url}");
        }
    }
}
