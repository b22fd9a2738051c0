//! What other replicas have to be told, until the bus has taken it.

use std::collections::{HashSet, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::limits::Limits;
use crate::server::subscriptions::{Event, Kinds};

/// Events that wait, each of them once; if they are too many, one in their place that says that anything may have changed.
#[derive(Debug)]
pub(crate) struct EventQueue {
    most: usize,
    longest_uri: usize,
    waiting: Mutex<Waiting>,
    filled: Notify,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// It stands for all the others, which are not kept beside it.
    everything: bool,
    kinds: Kinds,
    uris: HashSet<Arc<str>>,
    order: VecDeque<Arc<str>>,
    /// What the bus has taken last. It counts as told when the next one is asked for.
    taken: Option<Event>,
}

impl EventQueue {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            most: limits.events.queued,
            longest_uri: limits.subscriptions.bytes,
            waiting: Mutex::default(),
            filled: Notify::new(),
            emptied: Notify::new(),
        }
    }

    /// Adds an event, unless nobody can have subscribed to it.
    pub(crate) fn push(&self, event: &Event) {
        if matches!(event, Event::ResourceUpdated(uri) if uri.len() > self.longest_uri) {
            return;
        }
        self.lock().add(event, self.most);
        self.filled.notify_one();
    }

    /// The next event, once there is one; the one before has been told then.
    pub(super) async fn next(&self) -> Event {
        loop {
            if let Some(event) = self.lock().take() {
                return event;
            }
            self.emptied.notify_waiters();
            self.filled.notified().await;
        }
    }

    /// Takes back what may not have been told.
    pub(super) fn put_back(&self) {
        let mut waiting = self.lock();
        if let Some(event) = waiting.taken.take() {
            waiting.add(&event, self.most);
        }
    }

    /// Waits until all has been told.
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

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn add(&mut self, event: &Event, most: usize) {
        if self.everything {
            return;
        }
        match event {
            Event::ListChanged(kind) => self.kinds = self.kinds.with(*kind),
            Event::ResourceUpdated(uri) if self.uris.contains(&**uri) => {}
            Event::ResourceUpdated(uri) if self.uris.len() < most => {
                let uri: Arc<str> = (&**uri).into();
                self.order.push_back(Arc::clone(&uri));
                self.uris.insert(uri);
            }
            Event::ResourceUpdated(_) | Event::Resync => {
                *self = Self {
                    everything: true,
                    taken: self.taken.take(),
                    ..Self::default()
                };
            }
        }
    }

    fn take(&mut self) -> Option<Event> {
        self.taken = if std::mem::take(&mut self.everything) {
            Some(Event::Resync)
        } else if let Some(kind) = self.kinds.take() {
            Some(Event::ListChanged(kind))
        } else if let Some(uri) = self.order.pop_front() {
            self.uris.remove(&uri);
            Some(Event::ResourceUpdated((&*uri).into()))
        } else {
            None
        };
        self.taken.clone()
    }

    fn is_empty(&self) -> bool {
        let nothing = self.kinds == Kinds::default() && self.order.is_empty();
        nothing && !self.everything && self.taken.is_none()
    }
}
