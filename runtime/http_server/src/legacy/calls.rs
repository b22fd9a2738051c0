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
    running: Mutex<Numbered<RunningCall>>,
    last_use: Arc<LastUse>,
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
    pub(super) fn new(last_use: Arc<LastUse>) -> Arc<Self> {
        Arc::new(Self {
            running: Mutex::default(),
            last_use,
        })
    }

    /// Returns the number of calls in flight.
    pub(super) fn count(&self) -> usize {
        self.lock().values().map(|running| running.calls).sum()
    }

    /// Inserts a call. It is in the table until the guard is dropped.
    pub(super) fn insert(self: &Arc<Self>, call: RunningCall) -> CallGuard {
        let key = self.lock().insert(call);
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
        match self.lock().get_mut(key) {
            Some(call) => call.handle = Some(handle),
            // The call has finished or was stopped in the meantime.
            None => handle.abort(),
        }
    }

    /// Stops the call of a request, and returns its stream.
    pub(super) fn cancel(&self, id: &RequestId) -> Option<u64> {
        let id = Some(IdKey::from(id));
        let mut running = self.lock();
        let (key, _) = running.iter().find(|(_, call)| call.id == id)?;
        let call = running.remove(key)?;
        Some(call.stop())
    }

    /// Returns the number of calls on the streams for which `is_selected` returns true.
    pub(super) fn count_on(&self, is_selected: impl Fn(u64) -> bool) -> usize {
        let running = self.lock();
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
        let mut running = self.lock();
        let found = running.iter();
        let found = found.filter(|(_, running)| is_selected(running.stream));
        let keys: Vec<u64> = found.map(|(key, _)| key).collect();
        if !keys.is_empty() {
            self.last_use.touch();
        }
        let found = keys.iter().filter_map(|key| running.remove(*key));
        found
            .map(|mut running| (running.id.take(), running.calls, running.stop()))
            .collect()
    }

    /// Stops all calls, and returns their streams.
    pub(super) fn stop_all(&self) -> Vec<u64> {
        let running = self.lock().take();
        running.map(RunningCall::stop).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Numbered<RunningCall>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.calls.lock().get(self.key).is_some()
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.calls.last_use.touch();
        self.calls.lock().remove(self.key);
    }
}
