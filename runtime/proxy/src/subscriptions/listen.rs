//! Subscription at a server of the modern era.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use tokio::time::Instant;
use treenail_runtime::SubscribedResources;
use treenail_runtime::client::{ClientError, Subscription};
use treenail_runtime::internal::{Backoff, jitter};
use treenail_schema::SubscriptionFilter;
use treenail_schema::internal::shortened;

use super::{backoff, is_final, until, wanted};
use crate::link::Link;
use crate::race::{Either, race};
use crate::upstream::Upstream;

/// Open subscription at a server of the modern era.
struct Listening {
    uris: BTreeSet<String>,
    /// Those of them that the server has not acknowledged.
    missing: BTreeSet<String>,
    stream: Pin<Box<Subscription>>,
    /// Start of the first of the subscriptions that have replaced each other without a gap.
    since: Instant,
    opened: Instant,
    /// Number of replacements in a row after changes of the server's resources, none of which has lasted.
    replacements: u32,
    /// Earliest time of the next one, if the resources have changed since.
    outdated: Option<Instant>,
}

impl Listening {
    fn new(uris: BTreeSet<String>, stream: Pin<Box<Subscription>>, earlier: Option<&Self>) -> Self {
        let acknowledged = stream.acknowledged().resource_subscriptions.iter();
        let acknowledged: BTreeSet<_> = acknowledged.flatten().cloned().collect();
        let outdated = earlier.filter(|earlier| earlier.uris == uris);
        Self {
            missing: uris.difference(&acknowledged).cloned().collect(),
            uris,
            stream,
            since: earlier.map_or_else(Instant::now, |earlier| earlier.since),
            opened: Instant::now(),
            replacements: outdated.map_or(0, |earlier| earlier.replacements + 1),
            outdated: None,
        }
    }

    /// Returns the time from which another subscription to the same resources may cover more of them.
    fn replaceable_at(&self) -> Option<Instant> {
        self.outdated.filter(|_| !self.missing.is_empty())
    }

    /// Returns true if a subscription to these resources may cover more than this one.
    fn is_replaceable(&self, uris: &BTreeSet<String>) -> bool {
        let is_due = self.replaceable_at().is_some_and(|at| at <= Instant::now());
        self.uris != *uris || is_due
    }

    /// Notes a change of the server's resources. A replacement has the lists fetched again, and a server whose lists always differ
    /// would be asked without a pause.
    fn note_change(&mut self, backoff: &Backoff) {
        if self.opened.elapsed() >= backoff.max {
            self.replacements = 0;
        }
        if self.outdated.is_none() {
            self.outdated = Some(self.next_attempt(backoff));
        }
    }

    /// Notes that it could not be replaced.
    fn note_failure(&mut self, may_succeed: bool, backoff: &Backoff) {
        self.replacements += 1;
        let is_repeated = self.outdated.is_some() && may_succeed;
        self.outdated = is_repeated.then(|| self.next_attempt(backoff));
    }

    fn next_attempt(&self, backoff: &Backoff) -> Instant {
        let delay = match self.replacements {
            0 => Duration::ZERO,
            count => backoff.delay_with_jitter(count, jitter()),
        };
        Instant::now() + delay
    }
}

/// Subscribes at a server of the modern era, with one request for everything.
pub(super) async fn listen(upstream: &Upstream, link: &Link, resources: &mut SubscribedResources) {
    // Failures to keep a subscription open, and failures to replace an open one.
    let (mut failures, mut replacements, mut was_open) = (0, 0, false);
    // True since a failure to replace an open one, also one that is not repeated.
    let mut has_failed = false;
    let mut current: Option<Listening> = None;
    let mut known = upstream.known_changes();
    loop {
        if current.is_none() {
            // The next one is opened with the resources that the server has now.
            known.mark_unchanged();
        }
        let uris = wanted(upstream, resources);
        match replace(link, &uris, current.as_mut()).await {
            Ok(None) => replacements = 0,
            Ok(Some(stream)) => {
                let opened = Listening::new(uris, stream, current.as_ref());
                note_changes_before(&opened, link, current.as_ref(), has_failed);
                (replacements, has_failed) = (0, false);
                current = Some(opened);
                was_open = true;
            }
            Err(error) if was_open && current.is_none() && link.is_http() && is_refusal(&error) => {
                // Another server may be at its address, perhaps of the legacy era.
                note_refusal(link, &error);
                return pending().await;
            }
            Err(error) if current.is_none() && error.is_unsupported() => {
                tracing::debug!(server = %upstream.name, "the server has no subscriptions");
                resources.changed().await;
                continue;
            }
            Err(error) => {
                has_failed = true;
                let may_succeed = note_failure(upstream, current.as_mut(), &error);
                replacements = if may_succeed { replacements + 1 } else { 0 };
            }
        }
        let retry = retry_delay(upstream, replacements);
        let replaceable = current.as_ref().and_then(Listening::replaceable_at);
        let retry = race(retry, until(replaceable));
        let changed = race(resources.changed(), known.changed());
        match race(ended(&mut current), race(changed, retry)).await {
            Either::First(()) => {
                let ended = current.take();
                let was_stable = |it: Listening| it.since.elapsed() >= backoff(upstream).max;
                failures = if ended.is_some_and(was_stable) {
                    1
                } else {
                    failures + 1
                };
                retry_delay(upstream, failures).await;
            }
            Either::Second(Either::First(Either::First(()))) => failures = 0,
            Either::Second(Either::First(Either::Second(_))) => {
                if let Some(open) = &mut current {
                    open.note_change(&backoff(upstream));
                }
            }
            Either::Second(Either::Second(_)) => {}
        }
    }
}

/// Notes that a subscription failed to open. Returns true if another attempt may succeed.
fn note_failure(upstream: &Upstream, open: Option<&mut Listening>, error: &ClientError) -> bool {
    let reason = shortened(&error.to_string());
    tracing::debug!(server = %upstream.name, %reason, "a subscription failed");
    let may_succeed = !is_final(error);
    if let Some(open) = open {
        open.note_failure(may_succeed, &backoff(upstream));
    }
    may_succeed
}

/// Notes changes before a subscription was opened. `has_failed` is true if the earlier one could not be replaced before.
fn note_changes_before(
    opened: &Listening,
    link: &Link,
    earlier: Option<&Listening>,
    has_failed: bool,
) {
    match earlier {
        // Changes before it are unknown.
        None => link.tap.missed(),
        Some(earlier) => {
            // Updates since a failed attempt to subscribe are unknown too.
            let late = opened.uris.difference(&opened.missing);
            let is_late = |uri: &&String| {
                let is_new = has_failed && !earlier.uris.contains(*uri);
                is_new || earlier.missing.contains(*uri)
            };
            link.tap.note_updates(late.filter(is_late));
            if link.is_http() {
                // Its last messages are lost, because they are on a stream of their own.
                link.tap.missed_changes(earlier.uris.iter());
            }
        }
    }
}

fn note_refusal(link: &Link, error: &ClientError) {
    let reason = shortened(&error.to_string());
    link.tap
        .note_outdated(format!("its changes cannot be followed any more: {reason}"));
}

/// Returns true if the server has answered, and would not accept the same request later.
fn is_refusal(error: &ClientError) -> bool {
    match error {
        ClientError::Refused(_) | ClientError::Protocol(_) | ClientError::Unsupported(_) => true,
        ClientError::Http { status, .. } => matches!(status, 400..=499) && *status != 429,
        _ => false,
    }
}

/// Waits for the end of the open subscription, if any.
async fn ended(current: &mut Option<Listening>) {
    if let Some(Listening { stream, .. }) = current {
        read_all(stream).await;
    }
}

/// Reads a subscription to its end. Its notifications arrive at the tap.
async fn read_all(stream: &mut Pin<Box<Subscription>>) {
    while next(stream).await.is_some_and(|it| it.is_ok()) {}
}

/// Opens a subscription to these resources and all lists, unless the open one is as good. The earlier subscription ends once there is
/// a new one, so that no change is missed.
async fn replace(
    link: &Link,
    uris: &BTreeSet<String>,
    open: Option<&mut Listening>,
) -> Result<Option<Pin<Box<Subscription>>>, ClientError> {
    if open.as_ref().is_some_and(|open| !open.is_replaceable(uris)) {
        return Ok(None);
    }
    let filter = filter(uris);
    let opening = async {
        let opened = link.client.session().subscriptions_listen(&filter).await;
        link.note_reached(&opened);
        Ok(Some(Box::pin(opened?)))
    };
    let Some(open) = open else {
        return opening.await;
    };
    let earlier = async {
        read_all(&mut open.stream).await;
        pending::<Infallible>().await
    };
    match race(opening, earlier).await {
        Either::First(opened) => opened,
        Either::Second(never) => match never {},
    }
}

/// Returns the filter for all lists and these resources.
fn filter(uris: &BTreeSet<String>) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    filter.prompts_list_changed = Some(true);
    filter.resources_list_changed = Some(true);
    filter.resource_subscriptions = (!uris.is_empty()).then(|| uris.iter().cloned().collect());
    filter
}

async fn next<S: Stream>(stream: &mut Pin<Box<S>>) -> Option<S::Item> {
    poll_fn(|task| stream.as_mut().poll_next(task)).await
}

/// Waits before the next attempt after this many failures in a row; forever if there are none.
async fn retry_delay(upstream: &Upstream, failures: u32) {
    if failures == 0 {
        return pending().await;
    }
    let delay = backoff(upstream).delay_with_jitter(failures, jitter());
    tokio::time::sleep(delay).await;
}
