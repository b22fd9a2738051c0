//! Task of a mounted server: connects, serves the features of the server, follows their changes, and connects again.

mod refresh;
mod sources;

use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use treenail_runtime::WeakServer;
use treenail_runtime::client::{ClientError, McpClient, SessionNotification};
use treenail_runtime::internal::deadline::from as after;
use treenail_runtime::internal::{Backoff, jitter, lists_expiry};
use treenail_schema::internal::shortened;

pub(crate) use self::sources::Sources;
use crate::link::{Link, all_capabilities};
use crate::lists::Lists;
use crate::names::Names;
use crate::race::{Either, race};
use crate::remote::Remote;
use crate::status::Status;
use crate::subscriptions;
use crate::tap::{News, Tap};
use crate::tapped::tapped;
use crate::upstream::Upstream;

/// Minimum time between fetches of lists that expire.
const MIN_TTL: Duration = Duration::from_secs(5);

/// Task of a mounted server.
pub(crate) struct Supervisor {
    pub(crate) remote: Remote,
    pub(crate) names: Names,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) sources: Sources,
    pub(crate) server: WeakServer,
    pub(crate) status: watch::Sender<Status>,
    /// The lists whose features are served now.
    pub(crate) served: Lists,
    /// The lists as the server has sent them.
    pub(crate) fetched: Lists,
    /// Number of failures to fetch all lists since the last success, and the time of the next attempt.
    pub(crate) retry: Option<(u32, Instant)>,
}

impl Supervisor {
    /// Runs until the server is unmounted, or the server of the proxy is closed or dropped.
    pub(crate) async fn run(mut self) {
        let (server, upstream) = (self.server.clone(), Arc::clone(&self.upstream));
        let end = race(server.closed(), upstream.unmounted());
        race(Box::pin(self.keep_connected()), end).await;
        drop(self);
        if let Some(link) = upstream.take_unmounted() {
            if let Err(error) = link.client.close().await {
                tracing::debug!(server = %upstream.name, %error, "a server was not closed gracefully");
            }
        }
    }

    fn backoff(&self) -> Backoff {
        Backoff {
            initial: self.upstream.limits.reconnect_delay,
            max: self.upstream.limits.max_reconnect_delay,
        }
    }

    async fn keep_connected(&mut self) {
        let limits = self.upstream.limits.clone();
        let backoff = self.backoff();
        let mut failures = 0;
        loop {
            let cause = match self.connect().await {
                Ok(link) => {
                    let since = Instant::now();
                    let cause = self.serve(&link).await;
                    // A server that ends at once is not started again at once.
                    if since.elapsed() >= limits.max_reconnect_delay {
                        failures = 0;
                    }
                    cause
                }
                Err(cause) => cause,
            };
            failures += 1;
            let (server, reason) = (&self.upstream.name, shortened(&cause));
            tracing::warn!(%server, cause = %reason, "a server of the proxy is not connected");
            self.upstream.set_down(Arc::clone(&cause));
            self.status.send_replace(Status::Disconnected { cause });
            tokio::time::sleep(backoff.delay_with_jitter(failures, jitter())).await;
        }
    }

    /// Connects, and serves the features of the server. Returns the cause of a failure.
    async fn connect(&mut self) -> Result<Arc<Link>, Arc<str>> {
        let deadline = self.deadline();
        let Ok(link) = timeout_at(deadline, self.shake_hands()).await else {
            let limit = self.upstream.limits.connect_timeout;
            return Err(format!("it did not answer within {limit:?}").into());
        };
        let link = link.map_err(|error| error.to_string())?;
        let refreshed = self.refresh(&link.client, deadline).await;
        refreshed.map_err(|error| error.to_string())?;
        self.upstream.set_up(Arc::clone(&link));
        self.send_status();
        Ok(link)
    }

    /// Returns the time until which a connection is established, or its lists are fetched.
    fn deadline(&self) -> Instant {
        after(Instant::now(), self.upstream.limits.connect_timeout)
    }

    /// Connects a client.
    async fn shake_hands(&self) -> Result<Arc<Link>, ClientError> {
        let slot: Arc<Mutex<Option<Arc<Tap>>>> = Arc::default();
        let (name, limits) = (
            Arc::clone(&self.upstream.name),
            self.upstream.limits.clone(),
        );
        let last = Arc::clone(&slot);
        let capabilities = self.remote.capabilities.clone();
        let builder = (self.remote.connect)()
            .client_capabilities(capabilities.unwrap_or_else(all_capabilities))
            .subscribe_to_changes(false)
            .wrap_session(move |session| {
                let tap = Tap::new(Arc::clone(&name), limits.clone());
                let session = tapped(session, &tap);
                *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(tap);
                session
            });
        let client = builder.build().await?;
        let tap = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        let tap = tap.ok_or_else(|| ClientError::closed("its session was not opened"))?;
        Ok(Arc::new(Link::new(client, tap)))
    }

    fn send_status(&self) {
        let served = &self.served;
        let features = served.tools.len()
            + served.prompts.len()
            + served.resources.len()
            + served.templates.len();
        let connected = Status::Connected { features };
        // Lists are fetched again without a change too.
        self.status.send_if_modified(|status| {
            let is_changed = *status != connected;
            *status = connected;
            is_changed
        });
    }

    /// Follows the changes of a connected server. Returns the cause of the end.
    async fn serve(&mut self, link: &Arc<Link>) -> Arc<str> {
        let upstream = Arc::clone(&self.upstream);
        let Some(server) = self.server.upgrade() else {
            return pending().await;
        };
        let resources = server.subscribed_resources();
        drop(server);
        let subscriptions = subscriptions::follow(&upstream, link, resources);
        match race(self.follow(link), subscriptions).await {
            Either::First(cause) => cause,
            Either::Second(()) => "its subscriptions ended".into(),
        }
    }

    async fn follow(&mut self, link: &Link) -> Arc<str> {
        let interval = self.upstream.limits.refresh_interval;
        loop {
            let news = self.news(link).await;
            if news.closed {
                return close_reason(&link.client).await;
            }
            self.publish_updates(news.updated, news.updates_lost);
            if !news.lists {
                continue;
            }
            let refreshed = self.refresh(&link.client, self.deadline()).await;
            match refreshed {
                Ok(()) => self.send_status(),
                Err(error) => {
                    self.note_fetch(false);
                    if self.upstream.list_warnings.is_due() {
                        let server = &self.upstream.name;
                        let error = shortened(&error.to_string());
                        tracing::warn!(%server, %error, "the lists of a server could not be fetched");
                    }
                }
            }
            // A server that announces changes without end is asked only so often.
            tokio::time::sleep(interval).await;
        }
    }

    /// Waits for changes, or for the time to fetch lists again that could not be fetched or have expired.
    async fn news(&self, link: &Link) -> News {
        let retry = self.retry.map(|(_, at)| at);
        let Some(at) = retry.or_else(|| lists_expiry(&link.client, MIN_TTL)) else {
            return link.tap.news().await;
        };
        match race(link.tap.news(), sleep_until(at)).await {
            Either::First(news) => news,
            Either::Second(()) => News {
                lists: true,
                ..News::default()
            },
        }
    }

    /// Notes an attempt to fetch the lists.
    fn note_fetch(&mut self, is_complete: bool) {
        let failures = self.retry.map_or(0, |(failures, _)| failures);
        self.retry = (!is_complete).then(|| {
            let failures = failures.saturating_add(1);
            let delay = self.backoff().delay_with_jitter(failures, jitter());
            (failures, Instant::now() + delay)
        });
    }

    /// Notifies the clients that have subscribed to updated resources.
    fn publish_updates(&self, updated: std::collections::HashSet<String>, lost: bool) {
        let Some(server) = self.server.upgrade() else {
            return;
        };
        for uri in updated {
            for uri in self.upstream.at_proxy(&uri) {
                server.resource_updated(uri);
            }
        }
        if lost {
            // Which ones is not known any more.
            for uri in server.subscribed_resources().uris() {
                if self.upstream.subscribed(&uri).is_some() {
                    server.resource_updated(uri);
                }
            }
        }
    }
}

/// Returns the reason why a connection has ended.
async fn close_reason(client: &McpClient) -> Arc<str> {
    let session = client.session().session();
    let probe = SessionNotification::new("notifications/roots/list_changed", "{}".to_owned());
    match session.notify(probe).await {
        Err(ClientError::Closed(reason)) => reason,
        Err(error) => error.to_string().into(),
        Ok(()) => "the connection was lost".into(),
    }
}
