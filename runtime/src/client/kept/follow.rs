//! The task that follows the changes of a server.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_core::Stream;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use treenail_schema::{ServerCapabilities, SubscriptionFilter};

use crate::client::jitter::jitter;
use crate::client::kept::{Inner, McpClient};
use crate::client::{ClientError, McpClientSession, Subscription};

/// How a client follows changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follow {
    /// Whether it asks to be told of them (modern era).
    pub(super) listens: bool,
    /// Whether it fetches what has changed at once, and not when it is used.
    pub(super) refreshes: bool,
}

impl Default for Follow {
    fn default() -> Self {
        Self {
            listens: true,
            refreshes: false,
        }
    }
}

/// A task that ends when this is dropped.
#[derive(Debug)]
pub(super) struct Following(Vec<AbortHandle>);

impl Drop for Following {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

/// Begins to follow the changes of a server, if it tells of any.
pub(super) fn follow(
    session: &Arc<McpClientSession>,
    client: Weak<Inner>,
    follow: Follow,
) -> Option<Following> {
    let facts = session.peer_info();
    let filter = filter(&facts.capabilities)?;
    let mut tasks = Vec::new();
    if follow.listens && facts.revision.is_modern() {
        let listening = listen(Arc::downgrade(session), filter);
        tasks.push(tokio::spawn(listening).abort_handle());
    }
    if follow.refreshes {
        let refreshing = refresh(Arc::downgrade(session), client);
        tasks.push(tokio::spawn(refreshing).abort_handle());
    }
    (!tasks.is_empty()).then_some(Following(tasks))
}

/// The lists whose changes the server tells of.
fn filter(capabilities: &ServerCapabilities) -> Option<SubscriptionFilter> {
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

/// Keeps a subscription open. What it brings is noted where all notifications come by.
async fn listen(session: Weak<McpClientSession>, filter: SubscriptionFilter) {
    let mut pauses = Pauses::default();
    let mut missed = false;
    loop {
        let Some(opened) = open(&session, &filter).await else {
            return;
        };
        match opened {
            Ok(subscription) => {
                if missed {
                    // What has changed while nobody listened is not known.
                    note_all(&session);
                }
                let opened = Instant::now();
                let delivered = drain(subscription).await;
                // A stream that ends at once is no reason to ask sooner.
                if delivered || opened.elapsed() >= Pauses::LONGEST {
                    pauses = Pauses::default();
                }
            }
            Err(ClientError::Closed(_) | ClientError::Unsupported(_)) if is_closed(&session) => {
                return;
            }
            Err(ClientError::Unsupported(_) | ClientError::Refused(_)) => {
                tracing::debug!("the server tells of no changes after all");
                return;
            }
            Err(error) => tracing::debug!(%error, "changes are not followed for a while"),
        }
        missed = true;
        tokio::time::sleep(pauses.next()).await;
    }
}

async fn open(
    session: &Weak<McpClientSession>,
    filter: &SubscriptionFilter,
) -> Option<Result<Subscription, ClientError>> {
    let session = session.upgrade().filter(|session| !closed(session))?;
    Some(session.subscriptions_listen(filter).await)
}

/// Waits for the end. Returns whether there was a notification.
async fn drain(subscription: Subscription) -> bool {
    let mut subscription = pin!(subscription);
    let mut delivered = false;
    while let Some(next) = poll_fn(|context| subscription.as_mut().poll_next(context)).await {
        delivered |= next.is_ok();
    }
    delivered
}

fn note_all(session: &Weak<McpClientSession>) {
    if let Some(session) = session.upgrade() {
        session.changes().note_all();
    }
}

fn closed(session: &McpClientSession) -> bool {
    session.changes().closed.load(Ordering::Acquire)
}

fn is_closed(session: &Weak<McpClientSession>) -> bool {
    session.upgrade().is_none_or(|session| closed(&session))
}

/// Fetches what has been fetched before and has changed.
async fn refresh(session: Weak<McpClientSession>, client: Weak<Inner>) {
    while let Some(current) = session.upgrade() {
        if closed(&current) {
            return;
        }
        let mut changed = pin!(current.changes().changed.notified());
        changed.as_mut().enable();
        let Some(inner) = client.upgrade() else {
            return;
        };
        if let Err(error) = (McpClient { inner }).refresh_stale().await {
            tracing::debug!(%error, "a list that has changed was not fetched");
        }
        if closed(&current) {
            return;
        }
        changed.await;
    }
}

/// Longer and longer pauses, which differ between clients.
#[derive(Debug, Default)]
struct Pauses(u32);

impl Pauses {
    const FIRST: Duration = Duration::from_millis(500);
    const DOUBLED: u32 = 6;
    const LONGEST: Duration = Duration::from_millis(500 << Self::DOUBLED);

    fn next(&mut self) -> Duration {
        let pause = Self::FIRST * (1 << self.0.min(Self::DOUBLED));
        self.0 = self.0.saturating_add(1);
        // Half of it at least.
        pause / 2 + pause.mul_f64(jitter() / 2.0)
    }
}
