//! Subscriptions at a server: to the resources that clients of the proxy have subscribed to, and to changes of its lists.

mod listen;
mod subscribe;

use std::collections::BTreeSet;
use std::future::pending;

use tokio::time::Instant;
use treenail_runtime::SubscribedResources;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::Backoff;
use treenail_schema::error_code;

use self::listen::listen;
use self::subscribe::subscribe;
use crate::link::Link;
use crate::matcher::Comparisons;
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
    let mut comparisons = Comparisons::default();
    let own = uris
        .iter()
        .filter_map(|uri| upstream.subscribed(uri, &mut comparisons));
    let own = own.map(str::to_owned);
    own.take(upstream.limits.subscriptions).collect()
}

/// Returns true if the same request would fail again, because the server lacks the method, or the resource for now.
fn is_final(error: &ClientError) -> bool {
    let code = error.as_refused().map(|error| error.code);
    error.is_unsupported()
        || matches!(
            code,
            Some(error_code::INVALID_PARAMS | error_code::RESOURCE_NOT_FOUND)
        )
}

/// Waits until this time; forever if there is none.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => pending().await,
    }
}

fn backoff(upstream: &Upstream) -> Backoff {
    Backoff {
        initial: upstream.limits.initial_backoff,
        max: upstream.limits.max_backoff,
    }
}
