//! Sockets to the server, or to the proxy that the environment names for it.

use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
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

use crate::client::ClientError;
use crate::client::fetch::url::is_loopback;

type BoxError = Box<dyn Error + Send + Sync>;

/// How the origin of a session is reached.
#[derive(Clone)]
pub(super) enum Route {
    Direct,
    /// A proxy that passes on bytes, as for `https`.
    Tunnel(Uri, Option<HeaderValue>),
    /// A proxy that passes on requests, as for `http`.
    Forward(Uri, Option<HeaderValue>),
}

impl Route {
    /// What `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say. Loopback addresses are reached without a proxy.
    pub(super) fn to(url: &Uri) -> Result<Self, ClientError> {
        Self::by(&Matcher::from_env(), url)
    }

    fn by(proxies: &Matcher, url: &Uri) -> Result<Self, ClientError> {
        let proxy = proxies.intercept(url);
        let Some(proxy) = proxy.filter(|_| !is_loopback(url.host().unwrap_or_default())) else {
            return Ok(Self::Direct);
        };
        if proxy.uri().scheme_str() != Some("http") {
            let why = "the environment names a proxy of a kind that is not supported; those of `http://` are";
            return Err(ClientError::invalid(why));
        }
        let authorization = proxy.basic_auth().cloned();
        Ok(match url.scheme_str() {
            Some("https") => Self::Tunnel(proxy.uri().clone(), authorization),
            _ => Self::Forward(proxy.uri().clone(), authorization),
        })
    }

    /// What each request has to have for the proxy.
    pub(super) fn authorization_of_requests(&self) -> Option<HeaderValue> {
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

/// Opens sockets.
#[derive(Clone)]
pub(super) struct Connector {
    tcp: HttpConnector,
    route: Route,
}

impl Connector {
    pub(super) fn new(route: Route, within: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        // A URL of `https` is the business of TLS, which is put around this.
        tcp.enforce_http(false);
        // Small messages would wait for acknowledgements otherwise.
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(within));
        Self { tcp, route }
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
        let mut tcp = self.tcp.clone();
        let route = self.route.clone();
        Box::pin(async move {
            let (stream, forwards) = match route {
                Route::Direct => (tcp.call(to).await?, false),
                Route::Forward(proxy, _) => (tcp.call(proxy).await?, true),
                Route::Tunnel(proxy, authorization) => {
                    let mut tunnel = Tunnel::new(proxy, tcp);
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

/// A socket, which knows whether a proxy wants to be told the whole URL.
pub(super) struct Socket {
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
    fn the_environment_says_how_a_server_is_reached() {
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
            let route = Route::by(&proxies, &Uri::from_static(url)).unwrap();
            let in_requests = route.authorization_of_requests().is_some();
            let got = match route {
                Route::Direct => "direct".to_owned(),
                Route::Tunnel(_, authorization) => {
                    assert!(
                        !in_requests,
                        "the server is not told how the proxy knows us"
                    );
                    format!("tunnel {}", authorization.is_some())
                }
                Route::Forward(..) => format!("forward {in_requests}"),
            };
            assert_eq!(got, expected, "{url}");
        }
        let socks = Matcher::builder().all("socks5://proxy:1").build();
        let refused = Route::by(&socks, &Uri::from_static("http://example.com/"));
        assert!(matches!(refused, Err(ClientError::Invalid(_))));
    }
}
