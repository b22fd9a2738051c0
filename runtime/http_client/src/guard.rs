//! Control over the addresses that a pool dials, for URLs that a peer has named.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use http::Uri;
use http::uri::{Authority, PathAndQuery};

use crate::error::BoxError;
use crate::url::port_or_default;

/// Future of the addresses of a host.
pub type ResolveFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Resolves hosts, and decides which of their addresses may be dialled.
pub trait DialGuard: fmt::Debug + Send + Sync + 'static {
    /// Resolves the name of a host.
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a>;

    /// Decides on an address for `url`, directly before it is dialled. A proxy dials for itself: then only an address that the
    /// URL contains is checked.
    ///
    /// # Errors
    ///
    /// The reason why it must not be dialled.
    fn check(&self, url: &Uri, address: IpAddr) -> Result<(), String>;
}

/// Error of a connection that a [`DialGuard`] has not allowed. Nothing was sent.
#[derive(Debug)]
pub(crate) struct NotAllowed(pub(crate) String);

impl fmt::Display for NotAllowed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NotAllowed {}

/// Returns the addresses of the host of `url` that may be dialled, at least one.
pub(crate) async fn allowed_addresses(
    guard: &Arc<dyn DialGuard>,
    url: &Uri,
) -> Result<Vec<IpAddr>, BoxError> {
    let addresses = match literal(url) {
        Some(address) => vec![address],
        None => guard.resolve(url.host().unwrap_or_default()).await?,
    };
    let (mut allowed, mut refused) = (Vec::new(), None);
    for address in addresses {
        match guard.check(url, address) {
            Ok(()) => allowed.push(address),
            Err(reason) => refused = Some(reason),
        }
    }
    match refused {
        Some(reason) if allowed.is_empty() => Err(NotAllowed(reason).into()),
        None if allowed.is_empty() => Err("the host has no address".into()),
        _ => Ok(allowed),
    }
}

/// Checks the address in a URL that a proxy will dial.
pub(crate) fn check_literal(guard: &Arc<dyn DialGuard>, url: &Uri) -> Result<(), NotAllowed> {
    literal(url).map_or(Ok(()), |address| {
        guard.check(url, address).map_err(NotAllowed)
    })
}

/// Returns the address that a URL contains in place of a name.
fn literal(url: &Uri) -> Option<IpAddr> {
    let host = url.host()?;
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    address.unwrap_or(host).parse().ok()
}

/// Returns `url` with an address in place of its host, so that exactly this address is dialled.
pub(crate) fn with_address(url: &Uri, address: IpAddr) -> Result<Uri, BoxError> {
    let mut parts = url.clone().into_parts();
    let address = SocketAddr::new(address, port_or_default(url));
    parts.authority = Some(address.to_string().parse::<Authority>()?);
    parts.path_and_query = Some(PathAndQuery::from_static("/"));
    Ok(Uri::from_parts(parts)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allows addresses of 10.0.0.0/8 only.
    #[derive(Debug)]
    struct Inside;

    impl DialGuard for Inside {
        fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
            let addresses = match host {
                "mixed.example" => vec!["8.8.8.8", "10.0.0.1", "::1", "10.0.0.2"],
                "outside.example" => vec!["8.8.8.8"],
                _ => Vec::new(),
            };
            let addresses = addresses.iter().map(|address| address.parse().unwrap());
            let addresses = addresses.collect();
            Box::pin(async move { Ok(addresses) })
        }

        fn check(&self, _: &Uri, address: IpAddr) -> Result<(), String> {
            let is_inside = matches!(address, IpAddr::V4(address) if address.octets()[0] == 10);
            is_inside.then_some(()).ok_or_else(|| "outside".to_owned())
        }
    }

    #[tokio::test]
    async fn only_allowed_addresses_are_dialled() {
        let guard: Arc<dyn DialGuard> = Arc::new(Inside);
        for (url, expected) in [
            ("https://mixed.example/", vec!["10.0.0.1", "10.0.0.2"]),
            ("https://outside.example/", vec![]),
            ("https://nothing.example/", vec![]),
            ("https://10.9.9.9:8443/", vec!["10.9.9.9"]),
            ("https://8.8.8.8/", vec![]),
            ("https://[::1]/", vec![]),
        ] {
            let allowed = allowed_addresses(&guard, &Uri::from_static(url)).await;
            let allowed = allowed.unwrap_or_default();
            let allowed: Vec<_> = allowed.iter().map(ToString::to_string).collect();
            assert_eq!(allowed, expected, "AUTH-C-129: {url}");
        }
    }

    #[test]
    fn a_proxy_gets_names_but_no_refused_address() {
        let guard: Arc<dyn DialGuard> = Arc::new(Inside);
        for (url, is_allowed) in [
            ("https://outside.example/", true),
            ("https://10.0.0.1/", true),
            ("https://8.8.8.8/", false),
            ("http://[::1]:80/", false),
        ] {
            let checked = check_literal(&guard, &Uri::from_static(url));
            assert_eq!(checked.is_ok(), is_allowed, "AUTH-C-133: {url}");
        }
    }

    #[test]
    fn the_address_replaces_the_host_and_keeps_the_port() {
        for (url, address, expected) in [
            ("https://a.example/x?y", "10.0.0.1", "https://10.0.0.1:443/"),
            ("http://a.example", "10.0.0.1", "http://10.0.0.1:80/"),
            ("http://a.example:8080", "fd00::1", "http://[fd00::1]:8080/"),
        ] {
            let dialled = with_address(&Uri::from_static(url), address.parse().unwrap());
            assert_eq!(dialled.unwrap(), expected, "AUTH-C-129");
        }
    }
}
