//! Counters of the change notifications of a server.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Notify;
use treenail_schema::SubscriptionFilter;

/// Counters of the change notifications of the server.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(in crate::client) tools: AtomicU64,
    pub(in crate::client) prompts: AtomicU64,
    pub(in crate::client) resources: AtomicU64,
    /// Updates of single resources.
    pub(in crate::client) updates: AtomicU64,
    /// Gaps of the connection, in which notifications of any kind may have been missed.
    gaps: AtomicU64,
    pub(in crate::client) changed: Notify,
    /// Set at the end of the connection.
    pub(super) closed: AtomicBool,
    /// Version of the credentials of the connection.
    credentials: AtomicU64,
}

impl Changes {
    /// Returns true after the end of the connection. Over Streamable HTTP, only a call of `close` ends it.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Returns the number of gaps of the connection.
    pub(in crate::client) fn gaps(&self) -> u64 {
        self.gaps.load(Ordering::Acquire)
    }

    /// Counts a notification, if it announces a change.
    pub(super) fn note_change(&self, method: &str) {
        let counter = match method {
            "notifications/tools/list_changed" => &self.tools,
            "notifications/prompts/list_changed" => &self.prompts,
            "notifications/resources/list_changed" => &self.resources,
            "notifications/resources/updated" => &self.updates,
            _ => return,
        };
        counter.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Counts a change of everything if the credentials have changed: results may depend on the user.
    pub(super) fn note_credentials(&self, version: u64) {
        if self.credentials.load(Ordering::Acquire) != version
            && self.credentials.swap(version, Ordering::AcqRel) != version
        {
            self.note_all_changed();
        }
    }

    /// Counts a change of everything and a gap, after notifications may have been missed.
    pub(in crate::client) fn note_all(&self) {
        self.gaps.fetch_add(1, Ordering::AcqRel);
        self.note_all_changed();
    }

    fn note_all_changed(&self) {
        for counter in [&self.tools, &self.prompts, &self.resources, &self.updates] {
            counter.fetch_add(1, Ordering::AcqRel);
        }
        self.changed.notify_waiters();
    }

    /// Counts a change of the lists that a new subscription covers, because changes before it were not reported.
    pub(in crate::client) fn note_lists(&self, subscribed: &SubscriptionFilter) {
        let lists = [
            (&self.tools, subscribed.tools_list_changed),
            (&self.prompts, subscribed.prompts_list_changed),
            (&self.resources, subscribed.resources_list_changed),
        ];
        for (counter, is_subscribed) in lists {
            counter.fetch_add(u64::from(is_subscribed == Some(true)), Ordering::AcqRel);
        }
        self.changed.notify_waiters();
    }

    /// Counts a change of resources, after notifications of their updates may have been missed.
    pub(in crate::client) fn note_missed_updates(&self) {
        self.updates.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }
}
