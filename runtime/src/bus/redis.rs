//! Events over the channels of Redis.

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

use crate::bus::guarded::Guarded;
use crate::bus::{BusFuture, EventBus, EventLink};
use crate::error::{Error, Result};

/// How long Redis may take to answer anything.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Bytes of a string in an answer of Redis to what is asked here, which are far shorter.
const ANSWER: usize = 4 << 10;
/// How long nothing is published before it is asked whether it is there.
const ASK_EVERY: Duration = Duration::from_secs(10);

/// An [`EventBus`] over the channels (`PUBLISH`, `SUBSCRIBE`) of Redis 6 or later, Valkey, and what else speaks their protocol
/// RESP3; the feature `redis`.
///
/// Each replica has one connection. Nothing is stored in Redis; who was not connected when something was published is told
/// afterwards that anything may have changed. A connection that says nothing for ten seconds is asked whether it is there, and
/// is given up after ten more. A replica that cannot keep up is disconnected by Redis (`client-output-buffer-limit pubsub`),
/// which bounds what waits for it.
///
/// All replicas of a server need the same channel, and who can publish there can make clients read again what they have
/// subscribed to. So Redis should ask for a password, which the URL takes: `redis://name:password@host:6379`. It is not logged.
/// Messages that are longer than those of a replica are dropped while they are read; over TLS, they are held as a whole
/// before that, up to `proto-max-bulk-len` of Redis.
/// For TLS (`rediss://`), add `redis` to your dependencies with one of its features for that, such as `tokio-rustls-comp`.
///
/// ```
/// use treenail_runtime::{RedisBus, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> treenail_runtime::Result<()> {
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
    /// A bus over the Redis at `url`: `redis://host:port`, or `redis+unix:///path`. It does not connect yet.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if that is not the URL of a Redis.
    pub fn new(url: impl AsRef<str>) -> Result<Self> {
        let open = |url: &str| -> RedisResult<Client> {
            let address = url.into_connection_info()?;
            let settings = address.redis_settings().clone();
            // Of the older protocol, messages and answers need two connections.
            let settings = settings.set_protocol(ProtocolVersion::RESP3);
            Client::open(address.set_redis_settings(settings))
        };
        let client = open(url.as_ref())
            .map_err(|error| Error::Build(format!("the URL of Redis is wrong: {error}")))?;
        Ok(Self {
            client,
            channel: "treenail".into(),
        })
    }

    /// The channel, in place of `treenail`. Servers with other names may share it.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = channel.into().into();
        self
    }

    /// Connects; what comes on the channel goes to `link`. The notification is that the connection is lost.
    async fn connect(
        &self,
        link: EventLink,
    ) -> RedisResult<(MultiplexedConnection, Option<Driver>, Arc<Notify>)> {
        let longest = link.longest_message().max(self.channel.len()).max(ANSWER);
        let lost = Arc::new(Notify::new());
        let notice = Arc::clone(&lost);
        // It is called where the connection is read, so nothing is queued between Redis and the server.
        let take = move |push: PushInfo| -> Result<(), redis::aio::SendError> {
            match (push.kind, &*push.data) {
                (PushKind::Message, [_, Value::BulkString(message)]) => link.receive(message),
                (PushKind::Disconnection, _) => notice.notify_one(),
                _ => {}
            }
            Ok(())
        };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(ANSWER_WITHIN))
            .set_response_timeout(Some(ANSWER_WITHIN))
            .set_push_sender(take);
        let (mut connection, driver) = self.open(config, longest).await?;
        connection.subscribe(&*self.channel).await?;
        Ok((connection, driver, lost))
    }

    /// Connects to the address of the client. Without TLS, no string of more than `longest` bytes is read.
    async fn open(
        &self,
        config: AsyncConnectionConfig,
        longest: usize,
    ) -> RedisResult<(MultiplexedConnection, Option<Driver>)> {
        let info = self.client.get_connection_info();
        let settings = info.redis_settings();
        match info.addr() {
            ConnectionAddr::Tcp(host, port) => {
                let socket = within(TcpStream::connect((&**host, *port))).await?;
                socket.set_nodelay(true)?;
                drive(settings, Guarded::new(socket, longest), config).await
            }
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => {
                let socket = within(tokio::net::UnixStream::connect(path)).await?;
                drive(settings, Guarded::new(socket, longest), config).await
            }
            _ => {
                let client = &self.client;
                let connecting = client.get_multiplexed_async_connection_with_config(&config);
                Ok((connecting.await?, None))
            }
        }
    }

    /// Publishes what there is to publish, until that fails.
    async fn publish(
        &self,
        mut connection: MultiplexedConnection,
        link: &EventLink,
    ) -> RedisResult<()> {
        loop {
            let mut command = redis::Cmd::new();
            match timeout(ASK_EVERY, link.next()).await {
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
            first(self.publish(connection, &link), async {
                lost.notified().await;
                Ok(())
            })
            .await
            .map_err(Into::into)
        })
    }
}

/// The task that reads and writes a connection, until this is dropped.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Speaks the protocol over a stream.
async fn drive<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    settings: &RedisConnectionInfo,
    stream: S,
    config: AsyncConnectionConfig,
) -> RedisResult<(MultiplexedConnection, Option<Driver>)> {
    let connecting = MultiplexedConnection::new_with_config(settings, stream, config);
    let (connection, driver) = within(async { Ok(connecting.await) }).await??;
    let driver = Driver(tokio::spawn(driver).abort_handle());
    Ok((connection, Some(driver)))
}

/// What Redis does, if it does that in time.
async fn within<T>(future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let done = timeout(ANSWER_WITHIN, future).await;
    done.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// What ends first of two.
async fn first<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        Poll::Ready(ended) => Poll::Ready(ended),
    })
    .await
}
