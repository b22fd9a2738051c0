//! Transport over sockets, which dials the addresses that a policy allows, or through the HTTP client of the user.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::uri::Scheme;
use http::{Request, Uri};
use treenail_http_client::body::{self, End};
use treenail_http_client::response::is_compressed;
use treenail_http_client::{
    DialGuard, HttpClientLimits, HttpError, Pool, PoolOptions, ResolveFuture,
};
use treenail_schema::internal::quoted;

use super::connection_settings::{Connections, configuration_error};
use super::fetcher::{Transport, TransportFuture};
use super::policy::FetchPolicy;
use super::response::{FetchResponse, MAX_BODY_BYTES};
use crate::AuthError;

/// Maximum number of origins with open connections.
const MAX_ORIGINS: usize = 8;
/// Maximum size of the headers of a response.
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// Maximum duration of opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Resolver of host names.
pub(super) trait Resolver: fmt::Debug + Send + Sync + 'static {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a>;
}

/// The resolver of the system.
#[derive(Debug)]
struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host, 0)).await?;
            let mut addresses: Vec<_> = addresses.map(|address| address.ip()).collect();
            addresses.dedup();
            Ok(addresses)
        })
    }
}

/// Transport over sockets.
pub(super) struct Network {
    guard: Arc<Guard>,
    limits: HttpClientLimits,
    /// Pools of connections by origin, the most recent one at the end.
    pools: Mutex<Vec<(String, Arc<Pool>)>>,
}

#[derive(Debug)]
struct Guard {
    policy: FetchPolicy,
    resolver: Arc<dyn Resolver>,
}

impl DialGuard for Guard {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        self.resolver.resolve(host)
    }

    fn check(&self, url: &Uri, address: IpAddr) -> Result<(), String> {
        self.policy.check_address(url, address)
    }
}

impl Network {
    pub(super) fn new(policy: FetchPolicy) -> Self {
        Self::with_resolver(policy, Arc::new(SystemResolver))
    }

    pub(super) fn with_resolver(policy: FetchPolicy, resolver: Arc<dyn Resolver>) -> Self {
        let limits = HttpClientLimits::default()
            .header_bytes(MAX_HEADER_BYTES)
            .connect_timeout(CONNECT_TIMEOUT);
        Self {
            guard: Arc::new(Guard { policy, resolver }),
            limits,
            pools: Mutex::default(),
        }
    }

    fn pool(&self, url: &Uri) -> Result<Arc<Pool>, AuthError> {
        let scheme = url.scheme_str().unwrap_or_default();
        let authority = url.authority().map_or("", |authority| authority.as_str());
        let origin = format!("{scheme}://{authority}").to_ascii_lowercase();
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let known = pools.iter().position(|(known, _)| *known == origin);
        let pool = if let Some(index) = known {
            pools.remove(index).1
        } else {
            Arc::new(self.open(url).map_err(configuration_error)?)
        };
        if pools.len() == MAX_ORIGINS {
            pools.remove(0);
        }
        pools.push((origin, Arc::clone(&pool)));
        Ok(pool)
    }

    fn open(&self, url: &Uri) -> Result<Pool, HttpError> {
        let tls = match self.guard.policy.connections_to(url) {
            Connections::Pooled(tls) => tls,
            // The client dials. The policy has judged the URL, and the address of its host if it is known.
            Connections::Own(client) => {
                return Ok(Pool::with_client(&self.limits, Arc::clone(client)));
            }
        };
        let options = PoolOptions {
            tls: tls.filter(|_| url.scheme() == Some(&Scheme::HTTPS)),
            guard: Some(Arc::<Guard>::clone(&self.guard)),
            ..PoolOptions::default()
        };
        Pool::with_options(url, &self.limits, options)
    }

    async fn exchange(&self, request: Request<Bytes>) -> Result<FetchResponse, AuthError> {
        let pool = self.pool(request.uri())?;
        let host = quoted(request.uri().host().unwrap_or_default());
        let unavailable =
            |reason: &dyn fmt::Display| AuthError::Unavailable(format!("{host}: {reason}").into());
        let response = pool.send(request).await.map_err(|error| match error {
            // The guard has refused the address.
            HttpError::Invalid(reason) => AuthError::Forbidden(reason),
            other => unavailable(&other),
        })?;
        let peer = pool.peer_address(&response);
        let (head, mut body) = response.into_parts();
        let too_large = || format!("the response has more than {} KiB", MAX_BODY_BYTES / 1024);
        let bytes = if !is_compressed(&head.headers) {
            match body::read(&mut body, MAX_BODY_BYTES).await {
                (bytes, End::Complete) => bytes,
                (_, End::TooLong) => return Err(AuthError::document(host, too_large())),
                (_, End::Broken(reason)) => return Err(unavailable(&reason)),
            }
        } else if head.status.is_success() {
            let reason = "the response is compressed, although compression was not accepted";
            return Err(AuthError::document(host, reason));
        } else {
            // The status of an error is useful without its body.
            Vec::new()
        };
        Ok(FetchResponse::new(head.status, head.headers, bytes).with_peer(peer))
    }
}

impl Transport for Network {
    fn send(&self, request: Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(self.exchange(request))
    }
}
