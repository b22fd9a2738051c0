//! Who listens on a server, and that it closes.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::sync::watch;

use crate::bus::EventQueue;
use crate::server::subscriptions::Event;
use crate::server::subscriptions::listener::Listener;

/// The listeners of a server.
#[derive(Default)]
pub(crate) struct Hub {
    listeners: Mutex<Listeners>,
    closed: AtomicBool,
    closing: watch::Sender<()>,
    /// What other replicas are told; missing without a bus.
    queue: Option<Arc<EventQueue>>,
}

#[derive(Default)]
struct Listeners {
    by_key: HashMap<u64, Arc<Listener>>,
    next_key: u64,
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
    /// A hub whose events `queue` keeps for other replicas.
    pub(crate) fn new(queue: Option<Arc<EventQueue>>) -> Self {
        Self {
            queue,
            ..Self::default()
        }
    }

    /// A new listener; the hub forgets it when what is returned is dropped.
    pub(crate) fn register(self: &Arc<Self>) -> Registration {
        let listener = Arc::<Listener>::default();
        let mut listeners = self.lock();
        let key = listeners.next_key;
        listeners.next_key += 1;
        listeners.by_key.insert(key, Arc::clone(&listener));
        // Under the lock, so that one that comes late is closed too.
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

    /// Tells all who want to know, at this replica and the others.
    ///
    /// This is the one place that events of this replica come through.
    pub(crate) fn publish(&self, event: &Event) {
        self.tell(event);
        // Also when it has closed: calls in flight may still change something.
        if let Some(queue) = &self.queue {
            queue.push(event);
        }
    }

    /// Tells all at this replica who want to know. A server that has closed has nothing more to tell them.
    pub(crate) fn tell(&self, event: &Event) {
        if !self.is_closed() {
            self.wake(|listener| listener.mark(event));
        }
    }

    /// Waits until the bus has taken all that other replicas are told.
    pub(crate) async fn flush_events(&self) {
        if let Some(queue) = &self.queue {
            queue.emptied().await;
        }
    }

    /// Ends all subscriptions, and with them what waits for [`Hub::closed`].
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
            // The sender is our own, so it is there.
            let _ = closing.changed().await;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().by_key.len()
    }

    /// Wakes connections when the locks are free.
    fn wake(&self, mark: impl Fn(&Listener) -> Option<Waker>) {
        let wakers: Vec<Waker> = {
            let listeners = self.lock();
            let listeners = listeners.by_key.values();
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

/// A place in the hub, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    hub: Arc<Hub>,
    key: u64,
    pub(crate) listener: Arc<Listener>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.hub.lock().by_key.remove(&self.key);
    }
}
