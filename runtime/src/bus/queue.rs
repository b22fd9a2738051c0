//! Queue of events that the bus has not yet published to the other replicas.

use std::collections::{HashSet, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::limits::Limits;
use crate::server::subscriptions::{Event, Kinds};

/// Bounded queue of distinct events. If it overflows, [`Event::Everything`] replaces all of them.
#[derive(Debug)]
pub(crate) struct EventQueue {
    max_uris: usize,
    max_uri_bytes: usize,
    pending: Mutex<Pending>,
    filled: Notify,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    /// [`Event::Everything`] is queued. It includes all other events, which are then not queued.
    everything: bool,
    kinds: Kinds,
    uris: HashSet<Arc<str>>,
    order: VecDeque<Arc<str>>,
    /// Event that the bus took last. It counts as published when the bus requests the next one.
    in_flight: Option<Event>,
}

impl EventQueue {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            max_uris: limits.events.queued,
            max_uri_bytes: limits.subscriptions.bytes,
            pending: Mutex::default(),
            filled: Notify::new(),
            emptied: Notify::new(),
        }
    }

    /// Adds an event, unless its URI is too long for any subscription.
    #[inline]
    pub(crate) fn push(&self, event: &Event) {
        if matches!(event, Event::ResourceUpdated(uri) if uri.len() > self.max_uri_bytes) {
            return;
        }
        self.lock().insert_event(event, self.max_uris);
        self.filled.notify_one();
    }

    /// Waits for the next event, and marks the previous one as published.
    pub(super) async fn next(&self) -> Event {
        loop {
            if let Some(event) = self.lock().take_event() {
                return event;
            }
            self.emptied.notify_waiters();
            self.filled.notified().await;
        }
    }

    /// Queues the event in flight again, because it may not have been published.
    #[inline]
    pub(super) fn requeue_in_flight(&self) {
        let mut pending = self.lock();
        if let Some(event) = pending.in_flight.take() {
            pending.insert_event(&event, self.max_uris);
        }
    }

    /// Waits until all events have been published.
    pub(crate) async fn emptied(&self) {
        loop {
            let mut emptied = pin!(self.emptied.notified());
            emptied.as_mut().enable();
            if self.lock().is_empty() {
                return;
            }
            emptied.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    #[inline]
    fn insert_event(&mut self, event: &Event, max_uris: usize) {
        if self.everything {
            return;
        }
        match event {
            Event::ListChanged(kind) => self.kinds = self.kinds.with(*kind),
            Event::ResourceUpdated(uri) if self.uris.contains(&**uri) => {}
            Event::ResourceUpdated(uri) if self.uris.len() < max_uris => {
                let uri: Arc<str> = (&**uri).into();
                self.order.push_back(Arc::clone(&uri));
                self.uris.insert(uri);
            }
            Event::ResourceUpdated(_) | Event::Resync => {
                *self = Self {
                    everything: true,
                    in_flight: self.in_flight.take(),
                    ..Self::default()
                };
            }
        }
    }

    #[inline]
    fn take_event(&mut self) -> Option<Event> {
        self.in_flight = if std::mem::take(&mut self.everything) {
            Some(Event::Resync)
        } else if let Some(kind) = self.kinds.take() {
            Some(Event::ListChanged(kind))
        } else if let Some(uri) = self.order.pop_front() {
            self.uris.remove(&uri);
            Some(Event::ResourceUpdated((&*uri).into()))
        } else {
            None
        };
        self.in_flight.clone()
    }

    fn is_empty(&self) -> bool {
        let no_event = self.kinds == Kinds::default() && self.order.is_empty();
        no_event && !self.everything && self.in_flight.is_none()
    }
}
