//! Servers and their builders, extended with a listener.

use std::future::Future;

use tokio::net::ToSocketAddrs;
use treenail_runtime::{Result, Server, ServerBuilder};

use crate::server::HttpServer;
use crate::service::HttpService;

/// HTTP listeners of a [`Server`], or of the server that a [`ServerBuilder`] builds. The prelude of `treenail` imports it.
///
/// ```no_run
/// use treenail::prelude::*;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> treenail::Result<()> {
///     treenail::server!().serve_http("127.0.0.1:8080").await
/// }
/// ```
pub trait ServeHttp: Sized {
    /// Serves HTTP at `address`, such as `127.0.0.1:8080`, with the endpoint `/mcp`, until the server
    /// [closes](Server::close).
    ///
    /// Shorthand for [`bind_http`](Self::bind_http) and [`HttpServer::serve`].
    ///
    /// # Errors
    ///
    /// As those two.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends all connections.
    fn serve_http(
        self,
        address: impl ToSocketAddrs + Send,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Binds to `address` without serving yet. Port 0 selects a free port.
    ///
    /// Requests for a host name other than this computer's are rejected. To serve other computers, allow the host names of
    /// the server with [`HttpService::allow_host`] and use [`HttpService::bind`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`](treenail_runtime::Error::Io) if binding fails; it names the address. Those of [`ServerBuilder::build`] for a
    /// builder.
    fn bind_http(
        self,
        address: impl ToSocketAddrs + Send,
    ) -> impl Future<Output = Result<HttpServer>> + Send;
}

impl ServeHttp for &Server {
    async fn serve_http(self, address: impl ToSocketAddrs + Send) -> Result<()> {
        self.bind_http(address).await?.serve().await
    }

    async fn bind_http(self, address: impl ToSocketAddrs + Send) -> Result<HttpServer> {
        HttpService::new(self.clone()).bind(address).await
    }
}

impl ServeHttp for ServerBuilder {
    async fn serve_http(self, address: impl ToSocketAddrs + Send) -> Result<()> {
        self.bind_http(address).await?.serve().await
    }

    async fn bind_http(self, address: impl ToSocketAddrs + Send) -> Result<HttpServer> {
        HttpService::new(self.build()?).bind(address).await
    }
}
