//! Subscriptions at a server of the legacy era.

use std::collections::BTreeSet;

use tokio::sync::watch;
use tokio::time::Instant;
use treenail_runtime::SubscribedResources;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::jitter;
use treenail_schema::internal::{quoted, shortened};

use super::{backoff, is_final, until, wanted};
use crate::link::Link;
use crate::race::{Either, race};
use crate::upstream::Upstream;

/// Subscribes at a server of the legacy era, with a request for each resource.
pub(super) async fn subscribe(
    upstream: &Upstream,
    link: &Link,
    resources: &mut SubscribedResources,
) {
    let mut subscriptions = Subscriptions::default();
    let mut retry = Retry::default();
    let mut sessions = link.tap.sessions.subscribe();
    let mut known = upstream.known_changes();
    let (mut earlier, mut has_new_resources) = (None, false);
    loop {
        let current = *sessions.borrow_and_update();
        let is_new = earlier != Some(current);
        if is_new {
            // A new session has no subscriptions.
            subscriptions.open.clear();
            retry.at = None;
        }
        let due = Due {
            failed: retry.is_due(),
            refused: has_new_resources || is_new,
        };
        let wanted = wanted(upstream, resources);
        subscriptions.update(upstream, link, &wanted, due).await;
        note_lost_changes(link, earlier.replace(current), current, &wanted);
        if subscriptions.failed.is_empty() {
            retry = Retry::default();
        } else if due.failed {
            retry.note_failure(upstream);
        }
        let renewed = renewed(upstream, &mut sessions);
        let others = race(race(resources.changed(), renewed), retry.wait());
        has_new_resources = matches!(race(known.changed(), others).await, Either::First(_));
    }
}

/// Subscriptions, by the result of the last request for each.
#[derive(Default)]
struct Subscriptions {
    open: BTreeSet<String>,
    /// Those that may succeed later.
    failed: BTreeSet<String>,
    /// Those that may succeed once the server has other resources.
    refused: BTreeSet<String>,
}

/// Subscriptions to try again.
#[derive(Clone, Copy)]
struct Due {
    failed: bool,
    refused: bool,
}

impl Subscriptions {
    /// Subscribes to the wanted resources, and unsubscribes from all others.
    async fn update(
        &mut self,
        upstream: &Upstream,
        link: &Link,
        wanted: &BTreeSet<String>,
        due: Due,
    ) {
        let session = link.client.session();
        let before = std::mem::take(self);
        for uri in wanted {
            let set = if before.open.contains(uri) {
                &mut self.open
            } else if before.failed.contains(uri) && !due.failed {
                &mut self.failed
            } else if before.refused.contains(uri) && !due.refused {
                &mut self.refused
            } else {
                let result = session.resources_subscribe(uri).await.map(drop);
                link.note_reached(&result);
                if let (Err(error), false) = (&result, before.lacks(uri)) {
                    report(upstream, uri, error);
                }
                self.set_for(&result)
            };
            set.insert(uri.clone());
        }
        for uri in before.open.difference(wanted) {
            if let Err(error) = session.resources_unsubscribe(uri).await {
                report(upstream, uri, &error);
            }
        }
        // Updates since a failed attempt to subscribe are unknown too.
        let late = self.open.iter().filter(|uri| before.lacks(uri));
        link.tap.note_updates(late);
    }

    /// Returns true if the resource was wanted, but the subscription was not open.
    fn lacks(&self, uri: &str) -> bool {
        self.failed.contains(uri) || self.refused.contains(uri)
    }

    /// Returns the set for the result of a request.
    fn set_for(&mut self, result: &Result<(), ClientError>) -> &mut BTreeSet<String> {
        match result {
            Ok(()) => &mut self.open,
            Err(error) if is_final(error) => &mut self.refused,
            Err(_) => &mut self.failed,
        }
    }
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
        until(self.at).await;
    }
}

fn report(upstream: &Upstream, uri: &str, error: &ClientError) {
    let (server, uri, error) = (&upstream.name, quoted(uri), shortened(&error.to_string()));
    tracing::warn!(%server, %uri, %error, "a server did not accept a change of a subscription");
}
