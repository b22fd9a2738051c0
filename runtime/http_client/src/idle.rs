//! Connections that are closed before the server closes them.
//!
//! A request over HTTP/1.1 that crosses the end of an idle connection is lost, and it cannot be known whether the server has processed it.

use std::sync::OnceLock;
use std::time::Duration;

use http::{HeaderMap, Request, Response, Version};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::Connect;
use hyper_util::client::legacy::{Builder, Client, ResponseFuture};

use crate::body::FullBody;
use crate::response::keep_alive_timeout;

/// Idle timeout of connections over HTTP/2, whose end is announced. Maximum for others.
pub(crate) const HTTP2_IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// Idle timeout of connections over HTTP/1.1 to a server that announces none: many close them after 5 s.
pub(crate) const HTTP1_IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Time from the last use of a connection to its announced end.
const MARGIN: Duration = Duration::from_secs(1);

/// Connections of one pool. A pool of hyper has one idle timeout, so a response over HTTP/1.1 that requires another one than the
/// initial pool has moves the requests after it to a second pool.
pub(crate) struct Connections<C> {
    connector: C,
    builder: Builder,
    initial_timeout: Duration,
    initial: Client<C, FullBody>,
    adapted: OnceLock<Client<C, FullBody>>,
}

impl<C: Connect + Clone + Send + Sync + 'static> Connections<C> {
    pub(crate) fn new(mut builder: Builder, connector: C, idle_timeout: Duration) -> Self {
        builder.pool_idle_timeout(idle_timeout);
        Self {
            initial: builder.build(connector.clone()),
            connector,
            builder,
            initial_timeout: idle_timeout,
            adapted: OnceLock::new(),
        }
    }

    pub(crate) fn request(&self, request: Request<FullBody>) -> ResponseFuture {
        let adapted = self.adapted.get();
        adapted.unwrap_or(&self.initial).request(request)
    }

    /// Adapts the idle timeout of later connections to a response.
    pub(crate) fn observe(&self, response: &Response<Incoming>) {
        if self.adapted.get().is_some() || response.version() >= Version::HTTP_2 {
            return;
        }
        let idle_timeout = http1_idle_timeout(response.headers());
        if idle_timeout != self.initial_timeout {
            self.adapted.get_or_init(|| {
                let mut builder = self.builder.clone();
                let builder = builder.pool_idle_timeout(idle_timeout);
                builder.build(self.connector.clone())
            });
        }
    }
}

fn http1_idle_timeout(headers: &HeaderMap) -> Duration {
    let announced = keep_alive_timeout(headers);
    announced.map_or(HTTP1_IDLE_TIMEOUT, |timeout| {
        timeout.saturating_sub(MARGIN).min(HTTP2_IDLE_TIMEOUT)
    })
}
