//! Sockets to the server, or to its proxy from the environment.

use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderValue, Uri};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::error::HttpError;
use crate::guard::{DialGuard, allowed_addresses, check_literal, with_address};
use crate::keep_alive::probe_tcp;
use crate::url::is_loopback;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// Route to the origin of a session.
#[derive(Clone)]
pub(crate) enum Route {
    Direct,
    /// A proxy that tunnels bytes, for `https`.
    Tunnel(Uri, Option<HeaderValue>),
    /// A proxy that forwards requests, for `http`.
    Forward(Uri, Option<HeaderValue>),
}

impl Route {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`. Loopback addresses never use a proxy.
    pub(crate) fn to(url: &Uri) -> Result<Self, HttpError> {
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

    /// Value of `Proxy-Authorization` in each request, if the proxy forwards requests.
    pub(crate) fn request_authorization(&self) -> Option<HeaderValue> {
        match self {
            Self::Forward(_, authorization) => authorization.clone().map(sensitive),
            Self::Direct | Self::Tunnel(..) => None,
        }
    }
}

fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

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
            let (stream, forwards) = match connector.route.clone() {
                Route::Direct => (connector.dial(to).await?, false),
                Route::Forward(proxy, _) => (connector.tcp.call(proxy).await?, true),
                Route::Tunnel(proxy, authorization) => {
                    let mut tunnel = Tunnel::new(proxy, connector.tcp);
                    if let Some(authorization) = authorization {
                        tunnel = tunnel.with_auth(authorization);
                    }
                    (tunnel.call(to).await?, false)
                }
            };
            Ok(Socket { stream, forwards })
        })
    }
}

/// A socket. For a forwarding proxy, requests must contain the absolute URL.
pub(crate) struct Socket {
    stream: TokioIo<TcpStream>,
    forwards: bool,
}

impl Connection for Socket {
    fn connected(&self) -> Connected {
        self.stream.inner().connected().proxy(self.forwards)
    }
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
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
            };
            assert_eq!(got, expected, "{url}");
        }
        let socks = Matcher::builder().all("socks5://proxy:1").build();
        let refused = Route::with_proxies(&socks, &Uri::from_static("http://example.com/"));
        assert!(matches!(refused, Err(HttpError::Invalid(_))));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn sockets_have_keep_alive() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let mut connector = Connector::new(Route::Direct, Duration::from_secs(10));
        let socket = connector.call(url.parse().unwrap()).await.unwrap();
        let options = socket2::SockRef::from(socket.stream.inner());
        assert!(options.keepalive().unwrap());
        assert_eq!(options.tcp_keepalive_time().unwrap().as_secs(), 30);
        assert_eq!(options.tcp_keepalive_interval().unwrap().as_secs(), 5);
        assert_eq!(options.tcp_keepalive_retries().unwrap(), 4);
        #[cfg(any(target_os = "android", target_os = "linux"))]
        assert_eq!(options.tcp_user_timeout().unwrap().unwrap().as_secs(), 50);
    }
}
