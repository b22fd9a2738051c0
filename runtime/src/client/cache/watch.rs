//! Background tasks that watch a server for list changes.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Weak};

use futures_core::Stream;
use tokio::runtime::Handle;
use tokio::time::Instant;
use treenail_schema::{ServerCapabilities, SubscriptionFilter};

use crate::client::background::in_background;
use crate::client::cache::background::{BACKOFF, Watcher};
use crate::client::cache::renewal::Renewal;
use crate::client::cache::{Inner, McpClient};
use crate::client::{ClientError, McpClientSession, Subscription};

/// Options for watching list changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchOptions {
    /// Subscribes to changes (modern era).
    pub(super) subscribe: bool,
    /// Fetches changed lists at once, instead of at their next use.
    pub(super) auto_refresh: bool,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            subscribe: true,
            auto_refresh: false,
        }
    }
}

/// Starts the tasks that the options ask for; `None` if the server sends no change notifications, and will send none.
pub(super) fn spawn_watcher(
    session: &Arc<McpClientSession>,
    client: Weak<Inner>,
    options: WatchOptions,
) -> Option<Watcher> {
    let info = session.peer_info();
    let announces_changes = subscription_filter(&info.capabilities).is_some();
    let may_subscribe = if info.revision.is_modern() {
        announces_changes
    } else {
        session.may_become_modern() && Handle::try_current().is_ok()
    };
    let mut tasks = Vec::new();
    if options.subscribe && may_subscribe {
        let subscribing = keep_subscribed(Arc::downgrade(session));
        tasks.push(tokio::spawn(in_background(subscribing)).abort_handle());
    }
    if options.auto_refresh && (announces_changes || may_subscribe) {
        let refreshing = refresh_on_change(Arc::downgrade(session), client);
        tasks.push(tokio::spawn(in_background(refreshing)).abort_handle());
    }
    (!tasks.is_empty()).then_some(Watcher::new(tasks))
}

/// Returns the lists for which the server declares `listChanged`.
fn subscription_filter(capabilities: &ServerCapabilities) -> Option<SubscriptionFilter> {
    let tools = capabilities.tools.as_ref().and_then(|it| it.list_changed);
    let prompts = capabilities.prompts.as_ref().and_then(|it| it.list_changed);
    let resources = capabilities
        .resources
        .as_ref()
        .and_then(|it| it.list_changed);
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = tools.filter(|changed| *changed);
    filter.prompts_list_changed = prompts.filter(|changed| *changed);
    filter.resources_list_changed = resources.filter(|changed| *changed);
    (filter != SubscriptionFilter::new()).then_some(filter)
}

/// Keeps a subscription open, once the server is of the modern era. The router of the session counts the changes, as for all
/// notifications.
async fn keep_subscribed(session: Weak<McpClientSession>) {
    let Some(filter) = modern_filter(&session).await else {
        return;
    };
    let mut failures = 0_u32;
    let mut missed = false;
    loop {
        let Some(opened) = open_subscription(&session, &filter).await else {
            return;
        };
        match opened {
            Ok(subscription) => {
                note_missed(&session, missed, &filter);
                let opened = Instant::now();
                let delivered = drain(subscription).await;
                // A stream that ends at once counts as a failure and does not reset the backoff.
                if delivered || opened.elapsed() >= BACKOFF.max {
                    failures = 0;
                }
            }
            Err(ClientError::Closed(_) | ClientError::Unsupported(_)) if is_closed(&session) => {
                return;
            }
            Err(error) if error.is_unsupported() => {
                tracing::debug!("the server does not support change subscriptions after all");
                return;
            }
            Err(error) => tracing::debug!(%error, "the change subscription failed and is retried"),
        }
        missed = true;
        failures = failures.saturating_add(1);
        tokio::time::sleep(BACKOFF.jittered_delay(failures)).await;
    }
}

/// Waits until the server is of the modern era. Returns `None` if it declares no `listChanged`, or if the connection has ended.
async fn modern_filter(session: &Weak<McpClientSession>) -> Option<SubscriptionFilter> {
    let session = session.upgrade()?;
    loop {
        // A new session counts as a change.
        let mut changed = pin!(session.changes().changed.notified());
        changed.as_mut().enable();
        let info = session.peer_info();
        if info.revision.is_modern() {
            return subscription_filter(&info.capabilities);
        }
        if session.changes().is_closed() {
            return None;
        }
        changed.await;
    }
}

async fn open_subscription(
    session: &Weak<McpClientSession>,
    filter: &SubscriptionFilter,
) -> Option<Result<Subscription, ClientError>> {
    let session = session
        .upgrade()
        .filter(|session| !session.changes().is_closed())?;
    Some(session.subscriptions_listen(filter).await)
}

/// Waits for the end of the subscription. Returns whether it delivered a notification.
async fn drain(subscription: Subscription) -> bool {
    let mut subscription = pin!(subscription);
    let mut delivered = false;
    while let Some(next) = poll_fn(|context| subscription.as_mut().poll_next(context)).await {
        delivered |= next.is_ok();
    }
    delivered
}

/// Notes that changes before an open subscription are unknown: those of the lists before the first one, and all changes after an
/// interruption. Lists that have not been requested yet are not affected.
fn note_missed(session: &Weak<McpClientSession>, is_renewed: bool, filter: &SubscriptionFilter) {
    let Some(session) = session.upgrade() else {
        return;
    };
    if is_renewed {
        session.changes().note_all();
    } else {
        session.changes().note_lists(filter);
    }
}

fn is_closed(session: &Weak<McpClientSession>) -> bool {
    session
        .upgrade()
        .is_none_or(|session| session.changes().is_closed())
}

/// Fetches changed lists again, if they have been fetched before. A fetch may itself cause the next change, or end in a gap of the
/// connection, after which all lists count as changed. So fetches that follow each other have a backoff.
async fn refresh_on_change(session: Weak<McpClientSession>, client: Weak<Inner>) {
    let mut renewal = Renewal::new();
    while let Some(current) = session.upgrade() {
        if current.changes().is_closed() {
            return;
        }
        let mut changed = pin!(current.changes().changed.notified());
        changed.as_mut().enable();
        let Some(inner) = client.upgrade() else {
            return;
        };
        // The client is not held during the wait.
        let has_changed = McpClient { inner }.has_changed_lists();
        if has_changed {
            renewal.plan();
            renewal.wait().await;
            renewal.note_success();
            let Some(inner) = client.upgrade() else {
                return;
            };
            if let Err(error) = (McpClient { inner }).refresh_changed().await {
                tracing::debug!(%error, "could not fetch a changed list");
            }
        }
        if current.changes().is_closed() {
            return;
        }
        changed.await;
    }
}
