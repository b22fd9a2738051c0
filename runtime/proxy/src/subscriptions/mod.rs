//! Subscriptions at a server: to the resources that clients of the proxy have subscribed to, and to changes of its lists.

mod listen;

use std::collections::BTreeSet;
use std::future::pending;

use tokio::sync::watch;
use tokio::time::Instant;
use treenail_runtime::SubscribedResources;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::{Backoff, jitter};
use treenail_schema::error_code;
use treenail_schema::internal::{quoted, shortened};

use self::listen::listen;
use crate::link::Link;
use crate::race::race;
use crate::upstream::Upstream;

/// Keeps the subscriptions at the server of `link` up to date. It never returns.
pub(crate) async fn follow(upstream: &Upstream, link: &Link, mut resources: SubscribedResources) {
    if link.revision.is_modern() {
        listen(upstream, link, &mut resources).await;
    } else {
        subscribe(upstream, link, &mut resources).await;
    }
}

/// Returns the URIs, at the server, of subscribed resources that this server may have.
fn wanted(upstream: &Upstream, resources: &mut SubscribedResources) -> BTreeSet<String> {
    let uris = resources.uris();
    let own = uris.iter().filter_map(|uri| upstream.subscribed(uri));
    let own = own.map(str::to_owned);
    own.take(upstream.limits.subscriptions).collect()
}

/// Subscribes at a server of the legacy era, with a request for each resource.
async fn subscribe(upstream: &Upstream, link: &Link, resources: &mut SubscribedResources) {
    let session = link.client.session();
    let mut open = BTreeSet::new();
    let mut failed = BTreeSet::new();
    let mut retry = Retry::default();
    let mut sessions = link.tap.sessions.subscribe();
    let mut earlier = None;
    loop {
        let current = *sessions.borrow_and_update();
        if earlier != Some(current) {
            // A new session has no subscriptions.
            open.clear();
            retry.at = None;
        }
        let is_due = retry.is_due();
        let mut wanted = wanted(upstream, resources);
        let failed_before = std::mem::take(&mut failed);
        for uri in wanted.difference(&open) {
            let is_delayed = !is_due && failed_before.contains(uri);
            if is_delayed || !try_subscribe(upstream, link, uri, &failed_before).await {
                failed.insert(uri.clone());
            }
        }
        for uri in open.difference(&wanted) {
            if let Err(error) = session.resources_unsubscribe(uri).await {
                report(upstream, uri, &error);
            }
        }
        note_lost_changes(link, earlier.replace(current), current, &wanted);
        wanted.retain(|uri| !failed.contains(uri));
        open = wanted;
        // Updates since a failed attempt to subscribe are unknown too.
        link.tap.note_updates(open.intersection(&failed_before));
        if failed.is_empty() {
            retry = Retry::default();
        } else if is_due {
            retry.note_failure(upstream);
        }
        let renewed = renewed(upstream, &mut sessions);
        race(race(resources.changed(), renewed), retry.wait()).await;
    }
}

/// Subscribes to a resource. Returns false if it failed, but may succeed later.
async fn try_subscribe(
    upstream: &Upstream,
    link: &Link,
    uri: &str,
    failed_before: &BTreeSet<String>,
) -> bool {
    let Err(error) = link.client.session().resources_subscribe(uri).await else {
        return true;
    };
    if !failed_before.contains(uri) {
        report(upstream, uri, &error);
    }
    is_final(&error)
}

/// Notes changes that are unknown because no session, or an earlier one, had the subscriptions.
fn note_lost_changes(link: &Link, earlier: Option<u64>, current: u64, wanted: &BTreeSet<String>) {
    match earlier {
        // Updates since the last connection are unknown.
        None if !wanted.is_empty() => link.tap.note(|news| news.updates_lost = true),
        // So are all changes since the end of the earlier session.
        Some(earlier) if earlier != current => link.tap.missed(),
        _ => {}
    }
}

/// Waits for another session at the server.
async fn renewed(upstream: &Upstream, sessions: &mut watch::Receiver<u64>) {
    // The tap outlives the receiver.
    let _ = sessions.changed().await;
    // A server that ends each session at once is asked only so often.
    tokio::time::sleep(upstream.limits.refresh_interval).await;
}

/// Next attempt of failed subscriptions.
#[derive(Default)]
struct Retry {
    /// Failures in a row.
    failures: u32,
    at: Option<Instant>,
}

impl Retry {
    fn is_due(&self) -> bool {
        self.at.is_none_or(|at| at <= Instant::now())
    }

    fn note_failure(&mut self, upstream: &Upstream) {
        self.failures += 1;
        let delay = backoff(upstream).delay_with_jitter(self.failures, jitter());
        self.at = Some(Instant::now() + delay);
    }

    /// Waits for the next attempt; forever without one.
    async fn wait(&self) {
        match self.at {
            Some(at) => tokio::time::sleep_until(at).await,
            None => pending().await,
        }
    }
}

fn report(upstream: &Upstream, uri: &str, error: &ClientError) {
    let (server, uri, error) = (&upstream.name, quoted(uri), shortened(&error.to_string()));
    tracing::warn!(%server, %uri, %error, "a server did not accept a change of a subscription");
}

/// Returns true if the same request would fail again, because the server lacks the method or the resource.
fn is_final(error: &ClientError) -> bool {
    let code = error.as_refused().map(|error| error.code);
    error.is_unsupported()
        || matches!(
            code,
            Some(error_code::INVALID_PARAMS | error_code::RESOURCE_NOT_FOUND)
        )
}

fn backoff(upstream: &Upstream) -> Backoff {
    Backoff {
        initial: upstream.limits.initial_backoff,
        max: upstream.limits.max_backoff,
    }
}
