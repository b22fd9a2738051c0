//! Connections to Redis whose replies are bounded.

use std::fmt;
use std::future::Future;
use std::io;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion,
    RedisConnectionInfo, RedisResult,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::bus::bounded_stream::BoundedStream;
use crate::error::{Error, Result};

/// Timeout for connecting and for each response of Redis.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Address and credentials of a Redis.
#[derive(Clone)]
pub struct RedisAddress {
    client: Client,
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RedisAddress")
            .finish_non_exhaustive()
    }
}

impl RedisAddress {
    /// Parses a URL.
    pub fn parse(url: &str) -> Result<Self> {
        let open = || -> RedisResult<Client> {
            let address = url.into_connection_info()?;
            let settings = address.redis_settings().clone();
            // RESP2 needs separate connections for messages and responses.
            let settings = settings.set_protocol(ProtocolVersion::RESP3);
            Client::open(address.set_redis_settings(settings))
        };
        let client = open().map_err(|error| Error::Build(format!("invalid Redis URL: {error}")))?;
        Ok(Self { client })
    }

    /// Connects. Without TLS, strings of more than `max_string` bytes are replaced by empty ones.
    pub async fn connect(
        &self,
        config: AsyncConnectionConfig,
        max_string: usize,
    ) -> RedisResult<RedisConnection> {
        let config = config
            .set_connection_timeout(Some(RESPONSE_TIMEOUT))
            .set_response_timeout(Some(RESPONSE_TIMEOUT));
        let info = self.client.get_connection_info();
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
                let client = &self.client;
                let connecting = client.get_multiplexed_async_connection_with_config(&config);
                Ok(RedisConnection {
                    connection: connecting.await?,
                    _driver: None,
                })
            }
        }
    }
}

/// Connection to a Redis, which is closed on drop.
#[derive(Debug)]
pub struct RedisConnection {
    /// Handle for commands, which may be cloned.
    pub connection: MultiplexedConnection,
    _driver: Option<Driver>,
}

/// Handle to the task that reads and writes a connection. Dropping it ends the task.
#[derive(Debug)]
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Opens a Redis connection over `stream` and spawns the task that drives it.
async fn spawn_driver<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    settings: &RedisConnectionInfo,
    stream: S,
    config: AsyncConnectionConfig,
) -> RedisResult<RedisConnection> {
    let connecting = MultiplexedConnection::new_with_config(settings, stream, config);
    let (connection, driver) = with_timeout(async { Ok(connecting.await) }).await??;
    Ok(RedisConnection {
        connection,
        _driver: Some(Driver(tokio::spawn(driver).abort_handle())),
    })
}

/// Runs `future` with the response timeout.
async fn with_timeout<T>(future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let completed = timeout(RESPONSE_TIMEOUT, future).await;
    completed.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
