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
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower_service::Service;

use crate::error::BoxError;
use crate::failure::ProxyFailed;
use crate::guard::{DialGuard, allowed_addresses, check_literal, with_address};
use crate::keep_alive::probe_tcp;
use crate::route::Route;
use crate::socket::Socket;
use crate::tunnel::open_tunnel;

/// Time after which the next address of a host is dialled too: that of hyper before it dials the other family of addresses.
const HEAD_START: Duration = Duration::from_millis(300);

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

    /// Dials the allowed addresses of the host, and returns the first connection that opens.
    async fn dial(&mut self, to: Uri) -> Result<TokioIo<TcpStream>, BoxError> {
        let Some(guard) = &self.guard else {
            return Ok(self.tcp.call(to).await?);
        };
        let addresses = allowed_addresses(guard, &to).await?;
        let dials = addresses.into_iter().map(|address| {
            let dial = with_address(&to, address).map(|address| self.tcp.call(address));
            async move { Ok(dial?.await?) }
        });
        first_open(dials).await
    }
}

/// Returns the first connection that opens. The next one is tried when another has failed, or none has opened for a while.
async fn first_open<T, F>(mut attempts: impl Iterator<Item = F>) -> Result<T, BoxError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, BoxError>> + Send + 'static,
{
    let mut running = JoinSet::new();
    let mut failure = "the host has no address".into();
    loop {
        if let Some(attempt) = attempts.next() {
            running.spawn(attempt);
        }
        match timeout(HEAD_START, running.join_next()).await {
            Ok(Some(Ok(Ok(connection)))) => return Ok(connection),
            Ok(Some(Ok(Err(error)))) => failure = error,
            Ok(Some(Err(panicked))) => failure = panicked.into(),
            Ok(None) => return Err(failure),
            Err(_) => {}
        }
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

    use tokio::sync::Notify;
    use tokio::time::Instant;

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

    async fn open(address: &str) -> Result<String, BoxError> {
        match address {
            "silent" => pending().await,
            "refused" => Err("refused".into()),
            _ => Ok(address.to_owned()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_is_silent_or_refuses_does_not_hide_the_others() {
        for (addresses, expected, head_starts) in [
            (&["a", "b"][..], Ok("a"), 0),
            (&["refused", "b"], Ok("b"), 0),
            (&["silent", "b"], Ok("b"), 1),
            (&["silent", "refused", "silent", "b"], Ok("b"), 2),
            (&["refused", "refused"], Err("refused"), 0),
            (&[], Err("the host has no address"), 0),
        ] {
            let start = Instant::now();
            let opened = first_open(addresses.iter().map(|address| open(address))).await;
            let opened = opened.map_err(|error| error.to_string());
            let opened = opened.as_deref().map_err(|error| &**error);
            assert_eq!(opened, expected, "{addresses:?}");
            let waited = start.elapsed().as_millis() / HEAD_START.as_millis();
            assert_eq!(waited, head_starts, "{addresses:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_address_is_awaited_while_others_are_tried() {
        let is_tried = Arc::new(Notify::new());
        let tries = Arc::clone(&is_tried);
        let slow = async move {
            is_tried.notified().await;
            open("slow").await
        };
        let silent = async move {
            tries.notify_one();
            open("silent").await
        };
        let attempts: [Pin<Box<dyn Future<Output = _> + Send>>; 2] =
            [Box::pin(slow), Box::pin(silent)];
        assert_eq!(first_open(attempts.into_iter()).await.unwrap(), "slow");
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
