//! Calls in flight of one session.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::AbortHandle;
use treenail_runtime::PendingResponse;
use treenail_runtime::internal::IdKey;
use treenail_schema::RequestId;

/// Calls in flight of one session. Dropping it stops them.
#[derive(Debug, Default)]
pub(super) struct SessionCalls {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    running: BTreeMap<u64, RunningCall>,
    last_key: u64,
}

/// Task of a call, or of the calls of a batch.
#[derive(Debug)]
pub(super) struct RunningCall {
    id: Option<IdKey>,
    /// Number of calls.
    calls: usize,
    stream: u64,
    /// Call permits of the server. They are released when the call is stopped, although its task ends later.
    #[allow(dead_code, reason = "held until it is dropped")]
    permits: Vec<OwnedSemaphorePermit>,
    /// `None` while the future of its request polls it. That future ends it when it finds it removed from the table.
    handle: Option<AbortHandle>,
}

impl RunningCall {
    pub(super) fn new(call: &mut PendingResponse, stream: u64) -> Self {
        Self {
            id: call.key(),
            calls: call.calls(),
            stream,
            permits: call.take_places(),
            handle: None,
        }
    }

    /// Stops the call, and returns its stream.
    fn stop(self) -> u64 {
        if let Some(handle) = self.handle {
            handle.abort();
        }
        self.stream
    }
}

impl SessionCalls {
    /// Returns the number of calls in flight.
    pub(super) fn count(&self) -> usize {
        let table = self.lock();
        table.running.values().map(|running| running.calls).sum()
    }

    /// Inserts a call. It is in the table until the guard is dropped.
    pub(super) fn insert(self: &Arc<Self>, call: RunningCall) -> CallGuard {
        let key = self.insert_call(call);
        CallGuard {
            calls: Arc::clone(self),
            key,
        }
    }

    /// Spawns the task of a call. `run` receives its guard.
    pub(super) fn spawn_call<F>(
        self: &Arc<Self>,
        runtime: &Handle,
        guard: CallGuard,
        run: impl FnOnce(CallGuard) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let key = guard.key;
        let handle = runtime.spawn(run(guard)).abort_handle();
        match self.lock().running.get_mut(&key) {
            Some(call) => call.handle = Some(handle),
            // The call has finished or was stopped in the meantime.
            None => handle.abort(),
        }
    }

    fn insert_call(&self, call: RunningCall) -> u64 {
        let mut table = self.lock();
        table.last_key += 1;
        let key = table.last_key;
        table.running.insert(key, call);
        key
    }

    /// Stops the call of a request, and returns its stream.
    pub(super) fn cancel(&self, id: &RequestId) -> Option<u64> {
        let id = Some(IdKey::from(id));
        let mut table = self.lock();
        let mut running = table.running.iter();
        let (key, _) = running.find(|(_, call)| call.id == id)?;
        let key = *key;
        let call = table.running.remove(&key)?;
        Some(call.stop())
    }

    /// Returns the number of calls on the streams for which `is_selected` returns true.
    pub(super) fn count_on(&self, is_selected: impl Fn(u64) -> bool) -> usize {
        let table = self.lock();
        let running = table.running.values();
        let running = running.filter(|running| is_selected(running.stream));
        running.map(|running| running.calls).sum()
    }

    /// Stops the calls on the streams for which `is_selected` returns true. Returns request id, number of calls and stream of
    /// each task.
    pub(super) fn stop_on(
        &self,
        is_selected: impl Fn(u64) -> bool,
    ) -> Vec<(Option<IdKey>, usize, u64)> {
        let mut table = self.lock();
        let running = table.running.iter();
        let found = running.filter(|(_, running)| is_selected(running.stream));
        let keys: Vec<u64> = found.map(|(key, _)| *key).collect();
        let found = keys.iter().filter_map(|key| table.running.remove(key));
        found
            .map(|mut running| (running.id.take(), running.calls, running.stop()))
            .collect()
    }

    /// Stops all calls, and returns their streams.
    pub(super) fn stop_all(&self) -> Vec<u64> {
        let mut table = self.lock();
        let running = std::mem::take(&mut table.running);
        running.into_values().map(RunningCall::stop).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a call from the table when it is dropped.
pub(super) struct CallGuard {
    calls: Arc<SessionCalls>,
    key: u64,
}

impl CallGuard {
    /// Returns false if the call was stopped.
    pub(super) fn is_running(&self) -> bool {
        self.calls.lock().running.contains_key(&self.key)
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.calls.lock().running.remove(&self.key);
    }
}
