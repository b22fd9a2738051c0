//! The calls of one session that are in flight.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedSemaphorePermit;
use tokio::task::AbortHandle;
use treenail_schema::RequestId;

use crate::request_id::IdKey;
use crate::server::PendingResponse;

/// The calls in flight. Dropping it ends them.
#[derive(Debug, Default)]
pub(super) struct Calls {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    running: HashMap<u64, Running>,
    last: u64,
}

/// A call in flight.
#[derive(Debug)]
pub(super) struct Running {
    id: Option<IdKey>,
    /// A batch may be many.
    calls: usize,
    stream: u64,
    /// Places in the budget of the server. They are free as soon as the call is stopped, though its task ends later.
    #[allow(dead_code, reason = "they are held")]
    places: Vec<OwnedSemaphorePermit>,
    handle: Option<AbortHandle>,
}

impl Running {
    pub(super) fn new(call: &mut PendingResponse, stream: u64) -> Self {
        Self {
            id: call.key(),
            calls: call.calls(),
            stream,
            places: call.take_places(),
            handle: None,
        }
    }

    /// Stops it, and says which stream it had.
    fn stop(self) -> u64 {
        if let Some(handle) = self.handle {
            handle.abort();
        }
        self.stream
    }
}

impl Calls {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        let table = self.lock();
        table.running.values().map(|running| running.calls).sum()
    }

    /// Goes on with a call. `run` makes the call of what tells that it is over.
    pub(super) fn start<F>(self: &Arc<Self>, running: Running, run: impl FnOnce(Over) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let key = self.add(running);
        let over = Over {
            calls: Arc::clone(self),
            key,
        };
        let handle = tokio::spawn(run(over)).abort_handle();
        match self.lock().running.get_mut(&key) {
            Some(call) => call.handle = Some(handle),
            // It is over, or was stopped in between.
            None => handle.abort(),
        }
    }

    fn add(&self, call: Running) -> u64 {
        let mut table = self.lock();
        table.last += 1;
        let key = table.last;
        table.running.insert(key, call);
        key
    }

    /// Stops the call that a request has begun, and says which stream it had.
    pub(super) fn cancel(&self, id: &RequestId) -> Option<u64> {
        let id = Some(IdKey::from(id));
        let mut table = self.lock();
        let mut running = table.running.iter();
        let (key, _) = running.find(|(_, call)| call.id == id)?;
        let key = *key;
        let call = table.running.remove(&key)?;
        Some(call.stop())
    }

    /// How many there are on those streams.
    pub(super) fn count_on(&self, is_one: impl Fn(u64) -> bool) -> usize {
        let table = self.lock();
        let running = table.running.values();
        let running = running.filter(|running| is_one(running.stream));
        running.map(|running| running.calls).sum()
    }

    /// Stops those on some streams; returns the id of the request of each, how many calls it was, and its stream.
    pub(super) fn end_on(&self, is_one: impl Fn(u64) -> bool) -> Vec<(Option<IdKey>, usize, u64)> {
        let mut table = self.lock();
        let running = table.running.iter();
        let found = running.filter(|(_, running)| is_one(running.stream));
        let keys: Vec<u64> = found.map(|(key, _)| *key).collect();
        let found = keys.iter().filter_map(|key| table.running.remove(key));
        found
            .map(|mut running| (running.id.take(), running.calls, running.stop()))
            .collect()
    }

    /// Stops all, and says which streams they had.
    pub(super) fn end(&self) -> Vec<u64> {
        let mut table = self.lock();
        table.running.drain().map(|(_, call)| call.stop()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells that a call is over, at the latest when it is dropped.
pub(super) struct Over {
    calls: Arc<Calls>,
    key: u64,
}

impl Drop for Over {
    fn drop(&mut self) {
        self.calls.lock().running.remove(&self.key);
    }
}
