//! Changes of the record by its run.

use std::future::{Future, pending};
use std::sync::Arc;

use tokio::time::{Instant, sleep};
use treenail_runtime::RpcError;

use super::retry::StoreRetry;
use super::{Creation, Lease, Run, Stop};
use crate::record::{Newer, Record};
use crate::store::StoreError;

/// Maximum number of conflicts of one change. Each is a change by a client.
const CONFLICTS: usize = 64;

/// Reason why a change was not stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotStored {
    #[error("the run has lost its task, or the task has ended")]
    Stopped,
    /// The change itself is refused.
    #[error("{}", .0.message)]
    Refused(RpcError),
    #[error(transparent)]
    Store(StoreError),
}

impl Run {
    /// Changes the record for its function, as [`Run::persist`] does. If the call remained a plain one, the change is not stored.
    pub(crate) async fn record_change(
        self: Arc<Self>,
        mut edit: impl FnMut(&mut Record) -> Result<bool, RpcError> + Send + 'static,
    ) -> Result<(), RpcError> {
        if self.remains_plain().await {
            let mut held = self.held();
            return edit(Arc::make_mut(&mut held.record)).map(drop);
        }
        detached(async move { self.persist(edit).await }).await
    }

    /// Waits for the creation of the task. Returns `true` if the call remained a plain one.
    pub(super) async fn remains_plain(&self) -> bool {
        let mut creation = self.creation.subscribe();
        let known = creation
            .wait_for(|creation| *creation != Creation::Pending)
            .await;
        known.is_ok_and(|creation| *creation == Creation::Plain)
    }

    /// Changes the record, and tries again while the store fails and the lease lasts. `edit` returns `false` if nothing is to be
    /// stored; it may run several times.
    pub(crate) async fn persist(
        &self,
        mut edit: impl FnMut(&mut Record) -> Result<bool, RpcError> + Send,
    ) -> Result<(), NotStored> {
        let (id, mut retry) = (&self.key.id, StoreRetry::default());
        loop {
            let error = match self.change(&mut edit).await {
                Err(NotStored::Store(error)) if !matches!(error, StoreError::Full(_)) => error,
                done => return done,
            };
            let Some(delay) = retry.next_delay(self.lease().end) else {
                tracing::error!(?id, %error, "the lease of a task ended while the store failed");
                self.stop(Stop::Lost);
                return Err(NotStored::Stopped);
            };
            if self.engine.store_failing.is_due() {
                tracing::warn!(?id, %error, "a change of a task could not be stored; trying again");
            }
            sleep(delay).await;
        }
    }

    /// Changes the record once.
    pub(crate) async fn change(
        &self,
        edit: &mut (impl FnMut(&mut Record) -> Result<bool, RpcError> + Send),
    ) -> Result<(), NotStored> {
        let _order = self.writing.lock().await;
        for _ in 0..CONFLICTS {
            let (version, record) = {
                let held = self.held();
                (held.version, Arc::clone(&held.record))
            };
            let stopped = self.stopped().is_some_and(|stop| stop != Stop::Released);
            if stopped || record.run.as_ref() != Some(&self.id) {
                return Err(NotStored::Stopped);
            }
            let mut record = Record::clone(&record);
            if !edit(&mut record).map_err(NotStored::Refused)? {
                return Ok(());
            }
            if self.store(version + 1, record).await? {
                return Ok(());
            }
            self.refresh().await?;
            if self.version() == version {
                // Another attempt at once would be the same.
                let error = "a conflict without another version of the task".to_owned();
                return Err(NotStored::Store(StoreError::Other(error)));
            }
        }
        let error = StoreError::Other("the task changes too often".to_owned());
        Err(NotStored::Store(error))
    }

    /// Stores a version of the record, which renews the lease. Returns `false` after a conflict.
    async fn store(&self, version: u64, record: Record) -> Result<bool, NotStored> {
        let since = Instant::now();
        let stored = record
            .store(&self.key, version)
            .map_err(|damaged| NotStored::Refused(crate::engine::not_written(damaged)))?;
        let wake = record.wake(self.key.created_ms);
        let replaced = self.engine.replace(stored, wake).await;
        if !replaced.map_err(NotStored::Store)? {
            return Ok(false);
        }
        let record = Arc::new(record);
        let mut held = self.held();
        if held.version < version {
            held.version = version;
            held.record = Arc::clone(&record);
            held.lease = Lease::new(since, self.engine.limits.lease);
        }
        drop(held);
        self.version.send_replace(version);
        self.engine.watch.publish(&self.key, version, &record);
        Ok(true)
    }

    /// Reads the record, which another process may have changed.
    pub(crate) async fn refresh(&self) -> Result<(), NotStored> {
        let known = self.version();
        let stored = self.engine.get(&self.key.id).await;
        let Some(stored) = stored.map_err(NotStored::Store)? else {
            self.stop(Stop::Lost);
            return Err(NotStored::Stopped);
        };
        match Record::read(&stored) {
            Ok(record) if stored.version > self.version() || record.is_final() => {
                let (id, version) = (&self.key.id, stored.version);
                tracing::trace!(?id, version, "a task has changed elsewhere");
                self.adopt(version, &record);
                self.engine.watch.publish(&self.key, version, &record);
            }
            Ok(record) => self.compare(known, stored.version, &record),
            Err(error) => {
                let id = &self.key.id;
                let newer = Newer::check(&[&stored.body, &stored.state]);
                let problem = newer.map_or_else(|newer| newer.to_string(), |()| error.problem);
                tracing::error!(?id, %problem, "a stored task cannot be read");
                self.stop(Stop::Lost);
            }
        }
        match self.stopped() {
            Some(Stop::Ended | Stop::Lost) => Err(NotStored::Stopped),
            _ => Ok(()),
        }
    }

    /// Compares a record that is not newer with the version that was known before it was read. An older one shows that the store has
    /// lost its last changes. Unless it has another run, this one stores at once what it holds, as the next version.
    fn compare(&self, known: u64, version: u64, record: &Record) {
        if record.run.as_ref() != Some(&self.id) {
            self.stop(Stop::Lost);
            return;
        }
        let mut held = self.held();
        if version >= known || held.version != known {
            return;
        }
        held.version = version;
        held.lease.renewal = Instant::now();
        drop(held);
        let id = &self.key.id;
        self.engine.watch.go_back(id, known, version);
        tracing::warn!(
            ?id,
            known,
            version,
            "the task store has lost changes of a running task"
        );
    }

    pub(super) fn lease(&self) -> Lease {
        self.held().lease
    }
}

/// Runs a change for a function to its end. The function may be dropped meanwhile, or not poll this: no other change of the run
/// waits for that.
///
/// If the run has lost its task, this never returns: the function is dropped at this place, without another effect.
pub(super) async fn detached<T: Send + 'static>(
    change: impl Future<Output = Result<T, NotStored>> + Send + 'static,
) -> Result<T, RpcError> {
    match tokio::spawn(change).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(NotStored::Refused(error))) => Err(error),
        Ok(Err(NotStored::Store(_))) => Err(RpcError::internal("the task store is full")),
        // An error is the end of the tokio runtime.
        Ok(Err(NotStored::Stopped)) | Err(_) => pending().await,
    }
}
