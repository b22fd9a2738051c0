//! Events over the channels of Redis.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind,
    RedisResult, Value,
};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::bus::{BusFuture, EventBus, EventLink};
use crate::error::{Error, Result};

/// How long Redis may take to answer anything.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
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
#[cfg_attr(docsrs, doc(cfg(feature = "redis")))]
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
    async fn connect(&self, link: EventLink) -> RedisResult<(MultiplexedConnection, Arc<Notify>)> {
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
        let client = &self.client;
        let mut connection = client
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        connection.subscribe(&*self.channel).await?;
        Ok((connection, lost))
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
            let (connection, lost) = self.connect(link.clone()).await?;
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

/// What ends first of two.
async fn first<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        Poll::Ready(ended) => Poll::Ready(ended),
    })
    .await
}
