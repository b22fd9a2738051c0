//! Connections to Redis, with bounded responses.

use std::future::Future;
use std::io;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion,
    RedisConnectionInfo, RedisResult, parse_redis_url,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use treenail_runtime::{Error, Result};

use crate::bounded_stream::BoundedStream;

/// Timeout for connecting and for each response of Redis.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Handle to the task that reads and writes a connection. Dropping it ends the task.
#[derive(Debug)]
pub struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reads a URL such as `redis://host:port`. It does not connect.
///
/// # Errors
///
/// [`Error::Build`] if the URL is not valid, requires TLS without support for it, or turns its checks off.
pub fn open_client(url: &str) -> Result<Client> {
    if !cfg!(feature = "redis-tls") && requires_tls(url) {
        let problem = "a Redis URL with TLS requires the feature `redis-tls`";
        return Err(Error::Build(problem.to_owned()));
    }
    let client =
        parse_url(url).map_err(|error| Error::Build(format!("invalid Redis URL: {error}")))?;
    if let ConnectionAddr::TcpTls { insecure: true, .. } = client.get_connection_info().addr() {
        let problem = "a Redis URL with `#insecure` is not supported; name the certificate of Redis in `SSL_CERT_FILE`";
        return Err(Error::Build(problem.to_owned()));
    }
    Ok(client)
}

/// Returns whether a URL has a scheme with TLS. The client for Redis may support it without the feature, through another crate.
fn requires_tls(url: &str) -> bool {
    parse_redis_url(url).is_some_and(|url| matches!(url.scheme(), "rediss" | "valkeys"))
}

fn parse_url(url: &str) -> RedisResult<Client> {
    let address = url.into_connection_info()?;
    let settings = address.redis_settings().clone();
    // RESP2 needs separate connections for messages and responses.
    let settings = settings.set_protocol(ProtocolVersion::RESP3);
    Client::open(address.set_redis_settings(settings))
}

/// Connects to the address of a client. Without TLS, strings of more than `max_string` bytes are discarded. The connection works
/// while its driver exists, if it has one.
pub async fn open_connection(
    client: &Client,
    config: AsyncConnectionConfig,
    max_string: usize,
) -> RedisResult<(MultiplexedConnection, Option<Driver>)> {
    let info = client.get_connection_info();
    let settings = info.redis_settings();
    match info.addr() {
        ConnectionAddr::Tcp(host, port) => {
            let socket = with_timeout(TcpStream::connect((&**host, *port))).await?;
            socket.set_nodelay(true)?;
            spawn_driver(settings, BoundedStream::new(socket, max_string), config).await
        }
        #[cfg(unix)]
        ConnectionAddr::Unix(path) => {
            let socket = with_timeout(tokio::net::UnixStream::connect(path)).await?;
            spawn_driver(settings, BoundedStream::new(socket, max_string), config).await
        }
        _ => {
            #[cfg(feature = "redis-tls")]
            provide_crypto();
            let connecting = client.get_multiplexed_async_connection_with_config(&config);
            Ok((connecting.await?, None))
        }
    }
}

/// Sets the cryptography of rustls for the process, unless the program has. With that of several crates in the build, rustls would panic.
#[cfg(feature = "redis-tls")]
fn provide_crypto() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Fails if the program sets it at the same time.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

/// Opens a Redis connection over `stream` and spawns the task that drives it.
async fn spawn_driver<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    settings: &RedisConnectionInfo,
    stream: S,
    config: AsyncConnectionConfig,
) -> RedisResult<(MultiplexedConnection, Option<Driver>)> {
    let connecting = MultiplexedConnection::new_with_config(settings, stream, config);
    let (connection, driver) = with_timeout(async { Ok(connecting.await) }).await??;
    let driver = Driver(tokio::spawn(driver).abort_handle());
    Ok((connection, Some(driver)))
}

/// Runs `future` with the response timeout.
async fn with_timeout<T>(future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let completed = timeout(RESPONSE_TIMEOUT, future).await;
    completed.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests {
    use super::open_client;

    #[test]
    fn tls_requires_its_feature() {
        for url in ["rediss://host", "REDISS://host", " valkeys://host"] {
            let error = open_client(url).err().map(|error| error.to_string());
            let refused = error.is_some_and(|error| error.contains("the feature `redis-tls`"));
            assert_eq!(refused, !cfg!(feature = "redis-tls"), "{url}");
        }
        assert!(open_client("redis://host").is_ok());
    }

    #[cfg(feature = "redis-tls")]
    #[test]
    fn tls_is_not_insecure() {
        let error = open_client("rediss://host/#insecure").err();
        let error = error.map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("`#insecure` is not supported")));
    }
}
