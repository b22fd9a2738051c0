//! Opens sockets to the server, or to its proxy.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::time::timeout;
use tower_service::Service;

use crate::error::BoxError;
use crate::failure::ProxyFailed;
use crate::guard::{DialGuard, allowed_addresses, check_literal, with_address};
use crate::keep_alive::probe_tcp;
use crate::route::Route;
use crate::socket::Socket;
use crate::tunnel::open_tunnel;

/// Opens sockets along a route.
#[derive(Clone)]
pub(crate) struct Connector {
    tcp: HttpConnector,
    route: Route,
    guard: Option<Arc<dyn DialGuard>>,
}

impl Connector {
    pub(crate) fn new(route: Route, timeout: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        // The TLS connector around this one handles `https`.
        tcp.enforce_http(false);
        // Otherwise small messages would wait for acknowledgements.
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(timeout));
        probe_tcp(&mut tcp);
        Self {
            tcp,
            route,
            guard: None,
        }
    }

    /// Dials only the addresses that `guard` allows.
    pub(crate) fn guarded(mut self, guard: Option<Arc<dyn DialGuard>>) -> Self {
        self.guard = guard;
        self
    }

    /// Dials the first address of the host that is allowed and answers.
    async fn dial(&mut self, to: Uri) -> Result<TokioIo<TcpStream>, BoxError> {
        let Some(guard) = &self.guard else {
            return Ok(self.tcp.call(to).await?);
        };
        let mut failure = None;
        for address in allowed_addresses(guard, &to).await? {
            match self.tcp.call(with_address(&to, address)?).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failure = Some(error.into()),
            }
        }
        Err(failure.unwrap_or_else(|| "the host has no address".into()))
    }
}

impl Service<Uri> for Connector {
    type Response = Socket;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Socket, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let mut connector = self.clone();
        Box::pin(async move {
            if let (Route::Forward(..) | Route::Tunnel(..), Some(guard)) =
                (&connector.route, &connector.guard)
            {
                check_literal(guard, &to)?;
            }
            Ok(match connector.route.clone() {
                Route::Direct => Socket::Tcp(connector.dial(to).await?),
                Route::Forward(proxy, _) => {
                    let dialed = connector.tcp.call(proxy).await;
                    Socket::Proxy(dialed.map_err(|error| ProxyFailed(error.into()))?)
                }
                Route::Tunnel(proxy, authorization) => {
                    let dialed = connector.tcp.call(proxy).await;
                    let stream = dialed.map_err(|error| ProxyFailed(error.into()))?;
                    let opened = open_tunnel(stream.into_inner(), &to, authorization.as_ref());
                    Socket::Tcp(TokioIo::new(opened.await.map_err(ProxyFailed)?))
                }
                #[cfg(unix)]
                Route::UnixSocket(path) => {
                    Socket::Unix(TokioIo::new(UnixStream::connect(path).await?))
                }
            })
        })
    }
}

/// Connector with one timeout for all steps: name, sockets, proxy and TLS.
#[derive(Clone)]
pub(crate) struct Bounded<S> {
    pub(crate) connector: S,
    pub(crate) timeout: Duration,
}

impl<S> Service<Uri> for Bounded<S>
where
    S: Service<Uri, Response: Send, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let (opening, limit) = (self.connector.call(to), self.timeout);
        Box::pin(async move {
            match timeout(limit, opening).await {
                Ok(opened) => opened.map_err(Into::into),
                Err(_) => Err(format!("it was not open within {limit:?}").into()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Pending, pending};

    use super::*;

    /// Connector whose connections stall while they are opened.
    struct Stalling;

    impl Service<Uri> for Stalling {
        type Response = ();
        type Error = BoxError;
        type Future = Pending<Result<(), BoxError>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Uri) -> Self::Future {
            pending()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_step_of_opening_a_connection_is_bounded() {
        let timeout = Duration::from_secs(2);
        let mut connector = Bounded {
            connector: Stalling,
            timeout,
        };
        let opened = connector.call(Uri::from_static("https://x.example/")).await;
        assert_eq!(opened.unwrap_err().to_string(), "it was not open within 2s");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn sockets_have_keep_alive() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let mut connector = Connector::new(Route::Direct, Duration::from_secs(10));
        let socket = connector.call(url.parse().unwrap()).await.unwrap();
        let Socket::Tcp(stream) = &socket else {
            panic!("a direct route is a TCP connection");
        };
        let options = socket2::SockRef::from(stream.inner());
        assert!(options.keepalive().unwrap());
        assert_eq!(options.tcp_keepalive_time().unwrap().as_secs(), 30);
        assert_eq!(options.tcp_keepalive_interval().unwrap().as_secs(), 5);
        assert_eq!(options.tcp_keepalive_retries().unwrap(), 4);
        #[cfg(any(target_os = "android", target_os = "linux"))]
        assert_eq!(options.tcp_user_timeout().unwrap().unwrap().as_secs(), 50);
    }
}
