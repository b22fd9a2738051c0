//! State that all browser tabs share: connection, messages, calls, and requests of the server.
//!
//! A change and its event happen under one lock, so a snapshot and the events after it are complete.

mod ask;
mod call;
mod log;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::task::AbortHandle;
use treenail::schema::{LoggingLevel, Root};

pub(super) use self::ask::{AskKind, Asks};
pub(super) use self::call::{Calls, NewCall, Outcome};
pub(super) use self::log::{EntryKind, Log, LogEntry};
use crate::server::Pauses;

/// Number of events that a slow tab may be behind. After that it gets a snapshot.
const QUEUED_EVENTS: usize = 512;

/// Maximum size of an event, in bytes. Tabs get a snapshot in place of a longer one, such as a large form of the server.
const MAX_EVENT_BYTES: usize = 64 << 10;

/// Event of the queue.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// JSON of a change.
    Change(Arc<str>),
    /// A change whose JSON is too long to be queued.
    Snapshot,
}

/// State and events.
#[derive(Debug)]
pub(super) struct Hub {
    state: Mutex<State>,
    sign_ins: Pauses,
    events: broadcast::Sender<Event>,
}

/// State of the page.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) status: Status,
    pub(super) log: Log,
    pub(super) calls: Calls,
    pub(super) asks: Asks,
    pub(super) roots: Vec<Root>,
    pub(super) log_level: Option<LoggingLevel>,
    /// Subscribed resources; in the modern era, with the task that holds the subscription.
    pub(super) subscriptions: BTreeMap<String, Option<AbortHandle>>,
}

/// State of the connection.
#[derive(Debug, Default)]
pub(super) enum Status {
    #[default]
    Connecting,
    /// Description of the server and of the connection.
    Connected(Value),
    /// Reason of the end, and further lines.
    Closed(String, Vec<String>),
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            sign_ins: Pauses::default(),
            events: broadcast::channel(QUEUED_EVENTS).0,
        }
    }
}

impl Hub {
    /// Returns the state. It is held for short only: the task that reads messages waits for it.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the pauses of all calls, while the user signs in.
    pub(super) fn sign_ins(&self) -> &Pauses {
        &self.sign_ins
    }

    /// Sends an event to all tabs. Callers hold the state, which orders the events.
    pub(super) fn send(&self, _state: &State, event: &Value) {
        let json = event.to_string();
        let event = if json.len() > MAX_EVENT_BYTES {
            Event::Snapshot
        } else {
            Event::Change(json.into())
        };
        // Without a tab, there is no receiver.
        let _ = self.events.send(event);
    }

    /// Changes the status, and sends it.
    pub(super) fn set_status(&self, status: Status) {
        let mut state = self.state();
        state.status = status;
        self.send(&state, &state.connection_event());
    }

    /// Sends the status again, after a change of the settings of the connection.
    pub(super) fn send_connection(&self, state: &State) {
        self.send(state, &state.connection_event());
    }

    /// Returns a snapshot of the state, and the events after it.
    pub(super) fn subscribe(&self) -> (Arc<str>, broadcast::Receiver<Event>) {
        let state = self.state();
        let snapshot = state.snapshot().to_string().into();
        (snapshot, self.events.subscribe())
    }

    /// Returns a snapshot for a tab that has missed events. It replaces all queued ones.
    pub(super) fn resubscribe(&self, events: &mut broadcast::Receiver<Event>) -> Arc<str> {
        let state = self.state();
        *events = self.events.subscribe();
        state.snapshot().to_string().into()
    }

    /// Adds a subscription. The task of an earlier one to the same resource is aborted, because it would never end.
    pub(super) fn add_subscription(&self, uri: &str, task: Option<AbortHandle>) {
        let mut state = self.state();
        let replaced = state.subscriptions.insert(uri.to_owned(), task);
        if let Some(Some(replaced)) = replaced {
            replaced.abort();
        }
        self.send_connection(&state);
    }

    /// Removes a subscription, and aborts its task.
    pub(super) fn remove_subscription(&self, uri: &str) {
        let mut state = self.state();
        if let Some(Some(task)) = state.subscriptions.remove(uri) {
            task.abort();
        }
        self.send_connection(&state);
    }

    /// Adds an entry to the log.
    pub(super) fn record(&self, entry: LogEntry) {
        let mut state = self.state();
        let event = state.log.push(entry);
        self.send(&state, &event);
    }
}

impl State {
    fn snapshot(&self) -> Value {
        let mut event = self.connection_event();
        event["type"] = json!("snapshot");
        event["messages"] = self.log.to_json();
        event["dropped"] = json!(self.log.dropped());
        event["calls"] = self.calls.to_json();
        event["asks"] = self.asks.to_json();
        event
    }

    fn connection_event(&self) -> Value {
        let (status, server, reason, notes) = match &self.status {
            Status::Connecting => ("connecting", None, None, [].as_slice()),
            Status::Connected(server) => ("connected", Some(server), None, [].as_slice()),
            Status::Closed(reason, notes) => ("closed", None, Some(reason), notes.as_slice()),
        };
        let subscriptions: Vec<_> = self.subscriptions.keys().collect();
        json!({
            "type": "connection",
            "status": status,
            "server": server,
            "reason": reason,
            "notes": notes,
            "roots": self.roots,
            "logLevel": self.log_level,
            "subscriptions": subscriptions,
        })
    }
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| {
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_subscription_that_is_replaced_ends() {
        let hub = Hub::default();
        let tasks = [(); 2].map(|()| tokio::spawn(std::future::pending::<()>()));
        for task in &tasks {
            hub.add_subscription("note://today", Some(task.abort_handle()));
        }
        let [first, second] = tasks;
        assert!(first.await.unwrap_err().is_cancelled());
        assert!(!second.is_finished());
        second.abort();
    }

    #[tokio::test]
    async fn queued_events_are_bounded() {
        let hub = Hub::default();
        let (_, mut events) = hub.subscribe();
        hub.send(&hub.state(), &json!("a".repeat(MAX_EVENT_BYTES - 2)));
        hub.send(&hub.state(), &json!("a".repeat(MAX_EVENT_BYTES - 1)));
        assert!(matches!(events.recv().await, Ok(Event::Change(_))));
        assert!(matches!(events.recv().await, Ok(Event::Snapshot)));
    }
}
