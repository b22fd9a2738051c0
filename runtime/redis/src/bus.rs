//! Event bus over Redis publish/subscribe.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ErrorKind, PushInfo, PushKind, RedisResult, ServerErrorKind,
    Value,
};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use treenail_runtime::{BusFuture, EventBus, EventLink, Result};

use crate::connection::{Driver, RESPONSE_TIMEOUT, open_client, open_connection};

/// Lower bound on the longest accepted string, in bytes. Responses to the commands used here are far shorter.
const MIN_STRING_BOUND: usize = 4 << 10;
/// Interval of checks of the connection.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// [`EventBus`] over the channels (`PUBLISH`, `SUBSCRIBE`) of Redis 6 or later, Valkey, and other engines with the RESP3
/// protocol. Requires the feature `redis`.
///
/// Each replica has one connection. Nothing is stored in Redis. A replica that was disconnected notifies its subscribers after
/// it reconnects that everything may have changed. A connection is checked every ten seconds, and closed if no response arrives
/// within ten seconds, or if this Redis is a copy of another one, for example after a failover: the messages of a copy do not
/// reach its primary. The other replicas are then notified that everything may have changed. Redis disconnects a replica that
/// cannot keep up (`client-output-buffer-limit pubsub`), which bounds the messages buffered for it.
///
/// A user with limited permissions needs the channel, which new users of Redis 7 lack, the commands `PUBLISH` and `SUBSCRIBE`, and
/// `ROLE` for the check of a copy: `ACL SETUSER bus on >password &treenail -@all +publish +subscribe +role`. A URL with a database
/// number also needs `SELECT`.
///
/// All replicas of a server need the same channel. A party that can publish there can make clients reload the items they
/// subscribed to, so protect Redis with a password. The URL contains it, `redis://name:password@host:6379`, and is not
/// logged. Messages longer than those of a replica are dropped while they are read. Over TLS they are first held in memory,
/// up to `proto-max-bulk-len` of Redis.
///
/// TLS (`rediss://`) requires the feature `redis-tls`. The certificate of Redis is verified against the roots of the system, or those in
/// the file that the environment variable `SSL_CERT_FILE` names.
/// The first connection sets `ring` as the default provider of rustls for the process. A program that sets another provider does so
/// before the server starts.
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
    /// Creates a bus over the Redis at `url`: `redis://host:port`, `rediss://host:port` or `redis+unix:///path`. It does not connect yet.
    ///
    /// # Errors
    ///
    /// [`treenail_runtime::Error::Build`] if `url` is not a valid Redis URL, requires TLS without the feature `redis-tls`, or turns its
    /// checks off (`#insecure`).
    pub fn new(url: impl AsRef<str>) -> Result<Self> {
        Ok(Self {
            client: open_client(url.as_ref())?,
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
        let (mut connection, driver) = open_connection(&self.client, config, max_string).await?;
        check(&mut connection).await?;
        connection.subscribe(&*self.channel).await?;
        Ok((connection, driver, lost))
    }

    /// Publishes the messages of this server until an error occurs. `unconfirmed` is set while one has been published since the last
    /// check: a copy accepts messages, too.
    async fn publish_messages(
        &self,
        mut connection: MultiplexedConnection,
        link: &EventLink,
        unconfirmed: &mut bool,
    ) -> RedisResult<()> {
        let mut check_at = Instant::now() + CHECK_INTERVAL;
        loop {
            if let Ok(message) = timeout_at(check_at, link.next()).await {
                *unconfirmed = true;
                let mut publish = redis::cmd("PUBLISH");
                let publish = publish.arg(&*self.channel).arg(message);
                publish.exec_async(&mut connection).await?;
            }
            if Instant::now() >= check_at {
                check(&mut connection).await?;
                *unconfirmed = false;
                check_at = Instant::now() + CHECK_INTERVAL;
            }
        }
    }
}

/// Checks that Redis responds, and that it is not a copy. The role is unknown to a user without the permission, and to some engines.
async fn check(connection: &mut MultiplexedConnection) -> RedisResult<()> {
    let role = redis::cmd("ROLE").query_async(connection).await;
    let unknown = [ServerErrorKind::NoPerm, ServerErrorKind::ResponseError].map(ErrorKind::Server);
    match role {
        Ok(Value::Array(role)) if matches!(role.first(), Some(Value::BulkString(name)) if name == b"slave") =>
        {
            let read_only = ErrorKind::Server(ServerErrorKind::ReadOnly);
            let reason = "this Redis is a read-only copy; use the URL of the primary one";
            Err((read_only, reason).into())
        }
        Err(error) if !unknown.contains(&error.kind()) => Err(error),
        _ => Ok(()),
    }
}

impl EventBus for RedisBus {
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        Box::pin(async move {
            let (connection, _driver, lost) = self.connect(link.clone()).await?;
            link.connected();
            let mut unconfirmed = false;
            let publishing = self.publish_messages(connection, &link, &mut unconfirmed);
            let ended = race(publishing, async {
                lost.notified().await;
                Ok(())
            });
            let ended = ended.await;
            if unconfirmed {
                link.resync_others();
            }
            ended.map_err(Into::into)
        })
    }
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
