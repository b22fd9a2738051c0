//! Subscriptions at a server: to the resources that clients of the proxy have subscribed to, and to changes of its lists.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;

use futures_core::Stream;
use tokio::time::Instant;
use treenail_runtime::SubscribedResources;
use treenail_runtime::client::{ClientError, Subscription};
use treenail_runtime::internal::{Backoff, jitter};
use treenail_schema::SubscriptionFilter;

use crate::link::Link;
use crate::race::{Either, race};
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
    let mut is_first = true;
    loop {
        let wanted = wanted(upstream, resources);
        for uri in wanted.difference(&open) {
            report(upstream, uri, session.resources_subscribe(uri).await.err());
        }
        for uri in open.difference(&wanted) {
            report(
                upstream,
                uri,
                session.resources_unsubscribe(uri).await.err(),
            );
        }
        if std::mem::take(&mut is_first) && !wanted.is_empty() {
            // Updates since the last connection are unknown.
            link.tap.note(|news| news.updates_lost = true);
        }
        open = wanted;
        resources.changed().await;
    }
}

fn report(upstream: &Upstream, uri: &str, error: Option<ClientError>) {
    if let Some(error) = error {
        let server = &upstream.name;
        tracing::warn!(%server, uri, %error, "a server did not accept a change of a subscription");
    }
}

/// Subscribes at a server of the modern era, with one request for everything.
async fn listen(upstream: &Upstream, link: &Link, resources: &mut SubscribedResources) {
    let backoff = Backoff {
        initial: upstream.limits.reconnect_delay,
        max: upstream.limits.max_reconnect_delay,
    };
    let mut failures = 0;
    let mut since = Instant::now();
    let mut current: Option<Pin<Box<Subscription>>> = None;
    loop {
        let filter = filter(wanted(upstream, resources));
        // The earlier subscription ends once there is a new one, so that no change is missed.
        match link.client.session().subscriptions_listen(&filter).await {
            Ok(subscription) => {
                if current.is_none() {
                    since = Instant::now();
                    // Changes before it are unknown.
                    link.tap.missed();
                }
                current = Some(Box::pin(subscription));
            }
            Err(error) if current.is_none() && error.is_unsupported() => {
                tracing::debug!(server = %upstream.name, "the server has no subscriptions");
                resources.changed().await;
                continue;
            }
            Err(error) => {
                tracing::debug!(server = %upstream.name, %error, "a subscription failed");
            }
        }
        let ended = async {
            match &mut current {
                // Its notifications arrive at the tap.
                Some(subscription) => {
                    while next(subscription).await.is_some_and(|it| it.is_ok()) {}
                }
                None => std::future::ready(()).await,
            }
        };
        match race(ended, resources.changed()).await {
            Either::First(()) => {
                if current.take().is_some() && since.elapsed() >= backoff.max {
                    failures = 0;
                }
                failures += 1;
                tokio::time::sleep(backoff.delay_with_jitter(failures, jitter())).await;
            }
            Either::Second(()) => failures = 0,
        }
    }
}

/// Returns the filter for all lists and these resources.
fn filter(wanted: BTreeSet<String>) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    filter.prompts_list_changed = Some(true);
    filter.resources_list_changed = Some(true);
    filter.resource_subscriptions = (!wanted.is_empty()).then(|| wanted.into_iter().collect());
    filter
}

async fn next<S: Stream>(stream: &mut Pin<Box<S>>) -> Option<S::Item> {
    poll_fn(|task| stream.as_mut().poll_next(task)).await
}
