//! Hub of a server: its listeners, and its closing.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::sync::watch;

use crate::bus::EventQueue;
use crate::extension::Publication;
use crate::server::subscriptions::Event;
use crate::server::subscriptions::history::EditedLists;
use crate::server::subscriptions::listener::Listener;
use crate::server::subscriptions::subscription::Subscription;

/// Listeners of a server.
#[derive(Default)]
pub(crate) struct Hub {
    listeners: Mutex<Listeners>,
    closed: AtomicBool,
    closing: watch::Sender<()>,
    /// Notified after each change of the URIs and topics that connections have subscribed to.
    interest: watch::Sender<()>,
    /// Events for other replicas; `None` without a bus.
    queue: Option<Arc<EventQueue>>,
}

#[derive(Default)]
struct Listeners {
    /// In a fixed order, so that events wake them in the same one. A key is an index.
    by_key: Vec<Option<Arc<Listener>>>,
    /// Keys without a listener.
    free: Vec<usize>,
}

impl Listeners {
    fn insert(&mut self, listener: Arc<Listener>) -> usize {
        if let Some(key) = self.free.pop() {
            self.by_key[key] = Some(listener);
            return key;
        }
        self.by_key.push(Some(listener));
        self.by_key.len() - 1
    }

    fn remove(&mut self, key: usize) {
        self.by_key[key] = None;
        self.free.push(key);
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Listener>> {
        self.by_key.iter().flatten()
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Hub")
            .field("listeners", &self.len())
            .finish_non_exhaustive()
    }
}

impl Hub {
    /// Makes a hub that also adds its events to `queue`, for other replicas.
    pub(crate) fn new(queue: Option<Arc<EventQueue>>) -> Self {
        Self {
            queue,
            ..Self::default()
        }
    }

    /// Registers a new listener until the [`Registration`] is dropped.
    pub(crate) fn register(self: &Arc<Self>) -> Registration {
        let listener = Arc::<Listener>::default();
        let mut listeners = self.lock();
        let key = listeners.insert(Arc::clone(&listener));
        // Under the lock, so that a late listener is closed too.
        if self.is_closed() {
            listener.close();
        }
        drop(listeners);
        Registration {
            hub: Arc::clone(self),
            key,
            listener,
        }
    }

    /// Publishes an event of this replica to the subscribers here and at other replicas.
    ///
    /// All events of this replica pass through here.
    #[inline]
    pub(crate) fn publish(&self, event: &Event) {
        self.notify_local(event);
        // Also after closing: calls in flight may still change something.
        if let Some(queue) = &self.queue {
            queue.push(event);
        }
    }

    /// Publishes an edit, also one that has changed no list. If callers see different items, a subscriber at this replica is
    /// notified if its caller sees another list than before; other replicas cannot know that, and notify all of theirs.
    #[inline]
    pub(crate) fn publish_edit(&self, edit: &EditedLists<'_>) {
        if !self.is_closed() {
            let mut removed = Vec::new();
            self.wake(|listener| listener.edited(edit, &mut removed));
            // Without a lock, because the handlers of removed entries may run the user's code.
            drop(removed);
        }
        if let Some(queue) = &self.queue {
            let mut kinds = edit.kinds;
            while let Some(kind) = kinds.take() {
                queue.push(&kind.into());
            }
        }
    }

    /// Sends a message of an extension to its subscribers at this replica.
    #[inline]
    pub(crate) fn publish_message(&self, publication: &Arc<Publication>) {
        if !self.is_closed() {
            self.wake(|listener| listener.publish(publication));
        }
    }

    /// Notifies the subscribers at this replica, unless the server has been closed.
    #[inline]
    pub(crate) fn notify_local(&self, event: &Event) {
        if !self.is_closed() {
            self.wake(|listener| listener.mark(event));
        }
    }

    /// Waits until the bus has published all events.
    pub(crate) async fn flush_events(&self) {
        if let Some(queue) = &self.queue {
            queue.emptied().await;
        }
    }

    /// Ends all subscriptions, and wakes the tasks that wait for [`Hub::closed`].
    pub(crate) fn close(&self) {
        if !self.closed.swap(true, Ordering::SeqCst) {
            self.wake(Listener::close);
            self.closing.send_replace(());
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Waits until the server closes.
    pub(crate) async fn closed(&self) {
        let mut closing = self.closing.subscribe();
        while !self.is_closed() {
            // This hub owns the sender.
            let _ = closing.changed().await;
        }
    }

    /// Notes that the URIs or topics of a connection have changed.
    pub(crate) fn note_interest(&self) {
        self.interest.send_replace(());
    }

    /// Returns a receiver of the changes of subscriptions.
    pub(crate) fn interest(&self) -> watch::Receiver<()> {
        self.interest.subscribe()
    }

    /// Returns the URIs of the resources that some connection of this replica has subscribed to.
    #[inline]
    pub(crate) fn uris(&self) -> HashSet<Arc<str>> {
        self.collect(|one, uris| uris.extend(one.uris().cloned()))
    }

    /// Returns the keys of the topics that some connection of this replica has subscribed to, also before they are accepted.
    #[inline]
    pub(crate) fn topics(&self) -> HashSet<Arc<str>> {
        self.collect(|one, topics| topics.extend(one.topics().cloned()))
    }

    fn collect(&self, add: impl Fn(&Subscription, &mut HashSet<Arc<str>>)) -> HashSet<Arc<str>> {
        let listeners: Vec<_> = self.lock().iter().cloned().collect();
        let mut collected = HashSet::new();
        for listener in listeners {
            let state = listener.lock();
            let subscriptions = state.subscriptions.iter();
            subscriptions.for_each(|one| add(one, &mut collected));
        }
        collected
    }

    pub(crate) fn len(&self) -> usize {
        let listeners = self.lock();
        listeners.by_key.len() - listeners.free.len()
    }

    /// Wakes connections after the locks are released.
    fn wake(&self, mut mark: impl FnMut(&Listener) -> Option<Waker>) {
        let wakers: Vec<Waker> = {
            let listeners = self.lock();
            let listeners = listeners.iter();
            listeners.filter_map(|listener| mark(listener)).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registration of a listener, until it is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    hub: Arc<Hub>,
    key: usize,
    pub(crate) listener: Arc<Listener>,
}

impl Registration {
    /// Notes that the URIs or topics of the connection have changed.
    pub(crate) fn note_interest(&self) {
        self.hub.note_interest();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.hub.lock().remove(self.key);
        if self.listener.has_interests() {
            self.hub.note_interest();
        }
    }
}
