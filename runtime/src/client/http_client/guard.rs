//! Control over the addresses that a pool dials, for URLs that a peer has named.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

use crate::client::http_client::proxy::BoxError;

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
pub(super) struct NotAllowed(pub(super) String);

impl fmt::Display for NotAllowed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NotAllowed {}

/// Returns the addresses of the host of `url` that may be dialled, at least one.
pub(super) async fn allowed_addresses(
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
pub(super) fn check_literal(guard: &Arc<dyn DialGuard>, url: &Uri) -> Result<(), NotAllowed> {
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
pub(super) fn with_address(url: &Uri, address: IpAddr) -> Result<Uri, BoxError> {
    let default_port = if url.scheme() == Some(&Scheme::HTTPS) {
        443
    } else {
        80
    };
    let port = url.port_u16().unwrap_or(default_port);
    let mut parts = url.clone().into_parts();
    parts.authority = Some(
        SocketAddr::new(address, port)
            .to_string()
            .parse::<Authority>()?,
    );
    parts.path_and_query = Some(PathAndQuery::from_static("/"));
    Ok(Uri::from_parts(parts)?)
}
