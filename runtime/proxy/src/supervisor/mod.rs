//! Task of a mounted server: connects, serves the features of the server, follows their changes, and connects again.

mod connect;
mod refresh;
mod sources;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use treenail_runtime::WeakServer;
use treenail_runtime::client::{ClientError, McpClient, SessionNotification};
use treenail_runtime::internal::{Backoff, in_background, jitter, next_list_fetch};
use treenail_schema::internal::shortened;

pub(crate) use self::connect::LatestSession;
pub(crate) use self::sources::Sources;
use crate::link::Link;
use crate::lists::Lists;
use crate::matcher::Comparisons;
use crate::names::Names;
use crate::race::{Either, join, race};
use crate::remote::Remote;
use crate::status::Status;
use crate::subscriptions;
use crate::tap::News;
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
    pub(crate) latest: LatestSession,
    /// Set once the names of the [`Remote`] were compared with those of the server.
    pub(crate) has_checked_renames: bool,
}

impl Supervisor {
    /// Runs until the server is unmounted, or the server of the proxy is closed or dropped. The status ends once the connection is
    /// closed.
    pub(crate) async fn run(mut self) {
        let (server, upstream) = (self.server.clone(), Arc::clone(&self.upstream));
        let end = race(server.closed(), upstream.unmounted());
        let ended = race(Box::pin(self.keep_connected()), end).await;
        if matches!(ended, Either::Second(Either::First(()))) {
            self.finish_calls().await;
        }
        upstream.unmount();
        self.close_session().await;
    }

    /// Waits for the calls in flight after the end of the server of the proxy, as long as that server does.
    async fn finish_calls(&self) {
        let Some(server) = self.server.upgrade() else {
            return;
        };
        let limit = server.limits().shutdown_timeout;
        drop(server);
        if let Ok(link) = self.upstream.link() {
            let finished = timeout(limit, link.tap.calls.finished());
            race(finished, self.upstream.unmounted()).await;
        }
    }

    fn backoff(&self) -> Backoff {
        Backoff {
            initial: self.upstream.limits.initial_backoff,
            max: self.upstream.limits.max_backoff,
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
                    let cause = in_background(self.serve(&link)).await;
                    // A server that ends at once is not started again at once.
                    if since.elapsed() >= limits.max_backoff {
                        failures = 0;
                    }
                    cause
                }
                Err(cause) => cause,
            };
            failures += 1;
            let (server, reason) = (&self.upstream.name, shortened(&cause));
            // Its own target, since programs that report the status have it twice otherwise.
            tracing::warn!(target: "treenail_proxy::status", %server, cause = %reason, "a server of the proxy is not connected");
            self.upstream.set_down(Arc::clone(&cause));
            self.status.send_replace(Status::Disconnected { cause });
            let delay = backoff.delay_with_jitter(failures, jitter());
            // A connection may end because the proxy gives it up.
            join(self.close_session(), sleep(delay)).await;
        }
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
        // The future is boxed because it is large.
        let subscriptions = Box::pin(subscriptions::follow(&upstream, link, resources));
        let reported = report_unreachable(link.tap.unreachable(), self.status.clone());
        match race(self.follow(link), race(subscriptions, reported)).await {
            Either::First(cause) => cause,
            Either::Second(_) => "its subscriptions ended".into(),
        }
    }

    async fn follow(&mut self, link: &Link) -> Arc<str> {
        let interval = self.upstream.limits.refresh_interval;
        loop {
            let news = self.news(link).await;
            if news.closed {
                return close_reason(&link.client).await;
            }
            if let Some(cause) = news.outdated {
                return cause;
            }
            self.publish_updates(news.updated, news.updates_lost);
            if !news.lists {
                continue;
            }
            let refreshed = self.refresh(link, self.deadline()).await;
            link.note_reached(&refreshed);
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
            sleep(interval).await;
        }
    }

    /// Waits for changes, or for the time to fetch lists again that could not be fetched or have expired.
    async fn news(&self, link: &Link) -> News {
        let retry = self.retry.map(|(_, at)| at);
        let Some(at) = retry.or_else(|| next_list_fetch(&link.client, MIN_TTL)) else {
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
        let mut comparisons = Comparisons::default();
        for uri in updated {
            for uri in self.upstream.at_proxy(&uri, &mut comparisons) {
                server.resource_updated(uri);
            }
        }
        if lost {
            // Which ones is not known any more.
            let mut comparisons = Comparisons::default();
            for uri in server.subscribed_resources().uris() {
                if self.upstream.subscribed(&uri, &mut comparisons).is_some() {
                    server.resource_updated(uri);
                }
            }
        }
    }
}

/// Reports a connected server as disconnected while requests do not reach it.
async fn report_unreachable(
    mut unreachable: watch::Receiver<Option<Arc<str>>>,
    status: watch::Sender<Status>,
) {
    let mut connected = None;
    while unreachable.changed().await.is_ok() {
        let cause = unreachable.borrow_and_update().clone();
        status.send_if_modified(|status| match cause {
            Some(cause) if status.is_connected() => {
                connected = Some(std::mem::replace(status, Status::Disconnected { cause }));
                true
            }
            // The status is already the new one after a change of the lists.
            None if !status.is_connected() => match connected.take() {
                Some(connected) => {
                    *status = connected;
                    true
                }
                None => false,
            },
            _ => false,
        });
    }
}

/// Returns the reason why a connection has ended.
async fn close_reason(client: &McpClient) -> Arc<str> {
    let session = client.session().session();
    let probe = SessionNotification::new("notifications/roots/list_changed", "{}".to_owned());
    match session.notify(probe).await {
        Err(ClientError::Closed(reason) | ClientError::Unreachable(reason)) => reason,
        Err(error) => error.to_string().into(),
        Ok(()) => "the connection was lost".into(),
    }
}
