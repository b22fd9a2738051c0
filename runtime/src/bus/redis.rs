//! Event bus over Redis publish/subscribe.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, PushInfo,
    PushKind, RedisConnectionInfo, RedisResult, Value,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::bus::bounded_stream::BoundedStream;
use crate::bus::{BusFuture, EventBus, EventLink};
use crate::error::{Error, Result};

/// Timeout for connecting and for each response of Redis.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Lower bound on the longest accepted string, in bytes. Responses to the commands used here are far shorter.
const MIN_STRING_BOUND: usize = 4 << 10;
/// Idle time after which the connection is checked with a ping.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// [`EventBus`] over the channels (`PUBLISH`, `SUBSCRIBE`) of Redis 6 or later, Valkey, and other engines with the RESP3
/// protocol. Requires the feature `redis`.
///
/// Each replica has one connection. Nothing is stored in Redis. A replica that was disconnected notifies its subscribers
/// after it reconnects that everything may have changed. A connection on which nothing was published for ten seconds is
/// checked with a ping, and closed if no response arrives within ten seconds. Redis disconnects a replica that cannot keep up
/// (`client-output-buffer-limit pubsub`), which bounds the messages buffered for it.
///
/// All replicas of a server need the same channel. A party that can publish there can make clients reload the items they
/// subscribed to, so protect Redis with a password. The URL contains it, `redis://name:password@host:6379`, and is not
/// logged. Messages longer than those of a replica are dropped while they are read. Over TLS they are first held in memory,
/// up to `proto-max-bulk-len` of Redis.
///
/// For TLS (`rediss://`), add `redis` to your dependencies with one of its TLS features, such as `tokio-rustls-comp`.
///
/// ```
/// use treenail::Server;
/// use treenail::events::RedisBus;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> treenail::Result<()> {
/// let bus = RedisBus::new("redis://127.0.0.1:6379")?.channel("demo");
/// let server = Server::builder("demo", "1.0.0").event_bus(bus).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisBus {
    client: Client,
    channel: Box<str>,
}

impl fmt::Debug for RedisBus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RedisBus")
            .field("channel", &self.channel)
            .finish_non_exhaustive()
    }
}

impl RedisBus {
    /// Creates a bus over the Redis at `url`: `redis://host:port` or `redis+unix:///path`. It does not connect yet.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if `url` is not a valid Redis URL.
    pub fn new(url: impl AsRef<str>) -> Result<Self> {
        let open = |url: &str| -> RedisResult<Client> {
            let address = url.into_connection_info()?;
            let settings = address.redis_settings().clone();
            // RESP2 needs separate connections for messages and responses.
            let settings = settings.set_protocol(ProtocolVersion::RESP3);
            Client::open(address.set_redis_settings(settings))
        };
        let client = open(url.as_ref())
            .map_err(|error| Error::Build(format!("invalid Redis URL: {error}")))?;
        Ok(Self {
            client,
            channel: "treenail".into(),
        })
    }

    /// Sets the channel. Default `treenail`. Servers with different names may share a channel.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = channel.into().into();
        self
    }

    /// Connects and passes the messages of the channel to `link`. The returned [`Notify`] signals the loss of the connection.
    async fn connect(
        &self,
        link: EventLink,
    ) -> RedisResult<(MultiplexedConnection, Option<Driver>, Arc<Notify>)> {
        let max_string = link
            .max_message_bytes()
            .max(self.channel.len())
            .max(MIN_STRING_BOUND);
        let lost = Arc::new(Notify::new());
        let notice = Arc::clone(&lost);
        // The reading task calls it, so nothing is queued between Redis and the server.
        let on_push = move |push: PushInfo| -> Result<(), redis::aio::SendError> {
            match (push.kind, &*push.data) {
                (PushKind::Message, [_, Value::BulkString(message)]) => link.receive(message),
                (PushKind::Disconnection, _) => notice.notify_one(),
                _ => {}
            }
            Ok(())
        };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(RESPONSE_TIMEOUT))
            .set_response_timeout(Some(RESPONSE_TIMEOUT))
            .set_push_sender(on_push);
        let (mut connection, driver) = self.open_connection(config, max_string).await?;
        connection.subscribe(&*self.channel).await?;
        Ok((connection, driver, lost))
    }

    /// Connects to the address of the client. Without TLS, strings of more than `max_string` bytes are discarded.
    async fn open_connection(
        &self,
        config: AsyncConnectionConfig,
        max_string: usize,
    ) -> RedisResult<(MultiplexedConnection, Option<Driver>)> {
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
                Ok((connecting.await?, None))
            }
        }
    }

    /// Publishes the messages of this server until an error occurs.
    async fn publish_messages(
        &self,
        mut connection: MultiplexedConnection,
        link: &EventLink,
    ) -> RedisResult<()> {
        loop {
            let mut command = redis::Cmd::new();
            match timeout(PING_INTERVAL, link.next()).await {
                Ok(message) => command.arg("PUBLISH").arg(&*self.channel).arg(message),
                Err(_) => command.arg("PING"),
            };
            command.exec_async(&mut connection).await?;
        }
    }
}

impl EventBus for RedisBus {
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        Box::pin(async move {
            let (connection, _driver, lost) = self.connect(link.clone()).await?;
            link.connected();
            race(self.publish_messages(connection, &link), async {
                lost.notified().await;
                Ok(())
            })
            .await
            .map_err(Into::into)
        })
    }
}

/// Handle to the task that reads and writes a connection. Dropping it ends the task.
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

/// Returns the output of the future that completes first.
async fn race<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        Poll::Ready(ended) => Poll::Ready(ended),
    })
    .await
}
