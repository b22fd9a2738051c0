//! Calls in flight of one session.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::AbortHandle;
use treenail_runtime::PendingResponse;
use treenail_runtime::internal::IdKey;
use treenail_schema::RequestId;

use crate::legacy::last_use::LastUse;
use crate::legacy::numbered::Numbered;

/// Calls in flight of one session. Dropping it stops them.
#[derive(Debug)]
pub(super) struct SessionCalls {
    table: Mutex<Table>,
    last_use: Arc<LastUse>,
}

#[derive(Debug, Default)]
struct Table {
    running: Numbered<RunningCall>,
    /// The session has ended, so that no further call starts.
    has_ended: bool,
}

/// Call, or the calls of a batch, from the start of its first poll.
#[derive(Debug)]
struct RunningCall {
    id: Option<IdKey>,
    /// Number of calls in flight, 0 during the first poll. Most calls end in it. A response of HTTP+SSE that waits for room counts as one.
    calls: usize,
    stream: u64,
    /// Call permits of the server. They are released when the call is stopped, although its task ends later.
    #[allow(dead_code, reason = "held until it is dropped")]
    permits: Vec<OwnedSemaphorePermit>,
    /// `None` while the future of its request polls it. That future ends it when it finds it removed from the table.
    handle: Option<AbortHandle>,
}

impl RunningCall {
    /// Stops the call, and returns its stream.
    fn stop(self) -> u64 {
        if let Some(handle) = self.handle {
            handle.abort();
        }
        self.stream
    }
}

impl SessionCalls {
    pub(super) fn new(last_use: Arc<LastUse>) -> Arc<Self> {
        Arc::new(Self {
            table: Mutex::default(),
            last_use,
        })
    }

    /// Returns true if no call is in flight, or in its first poll.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().running.values().next().is_none()
    }

    /// Inserts a call before its first poll, and returns the number of those in flight. It is in the table until the guard is
    /// dropped. `None` if the session has ended.
    pub(super) fn begin(
        self: &Arc<Self>,
        id: Option<IdKey>,
        stream: u64,
    ) -> Option<(CallGuard, usize)> {
        let mut table = self.lock();
        if table.has_ended {
            return None;
        }
        let in_flight = table.running.values().map(|running| running.calls).sum();
        let key = table.running.insert(RunningCall {
            id,
            calls: 0,
            stream,
            permits: Vec::new(),
            handle: None,
        });
        let guard = CallGuard {
            calls: Arc::clone(self),
            key,
            is_finished: false,
        };
        Some((guard, in_flight))
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
        match self.lock().running.get_mut(key) {
            Some(call) => call.handle = Some(handle),
            // The call has finished or was stopped in the meantime.
            None => handle.abort(),
        }
    }

    /// Stops the call of a request, and returns its stream.
    pub(super) fn cancel(&self, id: &RequestId) -> Option<u64> {
        let id = Some(IdKey::from(id));
        let mut table = self.lock();
        let (key, _) = table.running.iter().find(|(_, call)| call.id == id)?;
        let call = table.running.remove(key)?;
        drop(table);
        Some(call.stop())
    }

    /// Returns the number of calls on the streams for which `is_selected` returns true.
    pub(super) fn count_on(&self, is_selected: impl Fn(u64) -> bool) -> usize {
        let running = &self.lock().running;
        let selected = running.values();
        let selected = selected.filter(|running| is_selected(running.stream));
        selected.map(|running| running.calls).sum()
    }

    /// Stops the calls on the streams for which `is_selected` returns true. Returns request id, number of calls and stream of
    /// each task.
    pub(super) fn stop_on(
        &self,
        is_selected: impl Fn(u64) -> bool,
    ) -> Vec<(Option<IdKey>, usize, u64)> {
        let mut table = self.lock();
        let found = table.running.iter();
        let found = found.filter(|(_, running)| is_selected(running.stream));
        let keys: Vec<u64> = found.map(|(key, _)| key).collect();
        if !keys.is_empty() {
            self.last_use.touch();
        }
        let found = keys.iter().filter_map(|key| table.running.remove(*key));
        let found: Vec<_> = found.collect();
        drop(table);
        found
            .into_iter()
            .map(|mut running| (running.id.take(), running.calls, running.stop()))
            .collect()
    }

    /// Stops all calls at the end of the session, and returns their streams. No further call starts.
    pub(super) fn end(&self) -> Vec<u64> {
        let mut table = self.lock();
        table.has_ended = true;
        let running = table.running.take();
        drop(table);
        running.map(RunningCall::stop).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a call from the table when it is dropped.
pub(super) struct CallGuard {
    calls: Arc<SessionCalls>,
    key: u64,
    is_finished: bool,
}

impl CallGuard {
    /// Counts the calls that are in flight after their first poll, and takes their permits, unless they were stopped.
    pub(super) fn attend(&self, call: &mut PendingResponse) {
        let (calls, permits) = (call.calls(), call.take_places());
        if let Some(running) = self.calls.lock().running.get_mut(self.key) {
            running.calls = calls;
            running.permits = permits;
        }
    }

    /// Counts a response that waits for room as one call in flight.
    pub(super) fn count_one(&self) {
        if let Some(running) = self.calls.lock().running.get_mut(self.key) {
            running.calls = 1;
        }
    }

    /// Returns false if the call was stopped.
    pub(super) fn is_running(&self) -> bool {
        self.calls.lock().running.get(self.key).is_some()
    }

    /// Removes the call from the table. Returns false if it was stopped.
    pub(super) fn finish(mut self) -> bool {
        self.is_finished = true;
        self.remove()
    }

    fn remove(&self) -> bool {
        self.calls.last_use.touch();
        // Without the lock, because the permits wake others.
        let removed = self.calls.lock().running.remove(self.key);
        removed.is_some()
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        if !self.is_finished {
            self.remove();
        }
    }
}
