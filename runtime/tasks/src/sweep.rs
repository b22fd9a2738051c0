//! Sweeper: it takes over interrupted tasks, and deletes expired ones.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use treenail_runtime::internal::task::{may_add_tool, resume};
use treenail_runtime::internal::{deadline, spawn_lasting};
use treenail_runtime::{Server, WeakServer};

use crate::engine::{Engine, Loaded, not_written};
use crate::record::{CallText, Outcome, Record, TaskKey};
use crate::run::{Run, drive, random_run_id};
use crate::store::{StoreError, StoredTask};
use crate::suspension::{Leases, Suspensions};

/// Number of tasks that are read at once. They may be large, results included.
const BATCH: usize = 16;

/// Number of tasks that are read at once if those before them cannot be handled.
const MAX_BATCH: usize = 1_024;

/// Sweeps until the server is closed or dropped.
pub(crate) async fn sweep(engine: Arc<Engine>, server: WeakServer) {
    let limits = &engine.limits;
    let (sweep, watch) = (limits.sweep_interval, limits.watch_interval);
    let (mut suspensions, mut batch) = (Suspensions::new(limits.lease), BATCH);
    // At once: the process may have been restarted.
    let (mut next_sweep, mut next_watch) = (Instant::now(), deadline::after(watch));
    while !engine.is_halted() {
        let now = Instant::now();
        if now >= next_sweep {
            let Some(server) = server.upgrade() else {
                return;
            };
            engine
                .sweep_once(&server, &mut suspensions, &mut batch)
                .await;
            next_sweep = deadline::after(sweep);
        }
        if now >= next_watch {
            engine.read_watched().await;
            next_watch = deadline::after(watch);
        }
        let rest = next_sweep
            .min(next_watch)
            .saturating_duration_since(Instant::now());
        if timeout(rest, server.closed()).await.is_ok() {
            return;
        }
    }
}

impl Engine {
    /// Handles the tasks that are due now. `first_batch` is the number that is read at first, smaller after a failure.
    async fn sweep_once(
        self: &Arc<Self>,
        server: &Server,
        suspensions: &mut Suspensions,
        first_batch: &mut usize,
    ) {
        self.remove_disowned().await;
        let mut batch = *first_batch;
        let mut left: Option<(Vec<StoredTask>, Leases)> = None;
        loop {
            let due = match self.due(batch).await {
                Ok(due) => due,
                Err(error) => {
                    // The next search would return them first again.
                    if let Some((due, leases)) = left {
                        self.move_back(&due, leases).await;
                    }
                    // Long records may take more time than an operation has.
                    *first_batch = (batch / 4).clamp(1, BATCH);
                    tracing::warn!(%error, "interrupted tasks could not be searched");
                    return;
                }
            };
            // After the search: a suspension before it has ended the leases of tasks that run.
            let leases = suspensions.check();
            let (found, mut handled) = (due.len(), 0);
            for task in &due {
                match self.handle_due(server, task, leases).await {
                    Ok(changed) => handled += usize::from(changed),
                    Err(error) if self.store_failing.is_due() => {
                        tracing::warn!(id = ?task.id, %error, "a task that is due could not be changed");
                    }
                    Err(_) => {}
                }
            }
            if found < batch {
                *first_batch = BATCH;
                return;
            }
            // Those that were not handled are due again, so another search returns them first.
            if handled == 0 {
                if batch >= MAX_BATCH {
                    return self.move_back(&due, leases).await;
                }
                batch *= 4;
                left = Some((due, leases));
            } else {
                batch = (BATCH + found - handled).min(MAX_BATCH);
                left = None;
            }
        }
    }

    /// Moves those tasks behind all others for which this process has no room, or which it cannot read: the next search reaches
    /// the others. The tasks stay due and as they are, for another process.
    async fn move_back(&self, due: &[StoredTask], leases: Leases) {
        for task in due {
            if self.is_halted() {
                return;
            }
            if self.local(&task.id).is_some() || !self.is_for_others(task, leases) {
                continue;
            }
            let mut moved = task.clone();
            moved.version += 1;
            if let Err(error) = self.replace(moved, Duration::ZERO).await {
                tracing::warn!(id = ?task.id, %error, "a task for another process could not be moved back");
                return;
            }
        }
    }

    fn is_for_others(&self, task: &StoredTask, leases: Leases) -> bool {
        Loaded::read(task).map_or(true, |Loaded { key, record, .. }| {
            !record.is_final() && matches!(self.verdict(&key, &record, leases), Verdict::NoRoom)
        })
    }

    /// Handles a task that is due. Returns `false` if it stays due. One that another process has changed first does not.
    async fn handle_due(
        self: &Arc<Self>,
        server: &Server,
        task: &StoredTask,
        leases: Leases,
    ) -> Result<bool, StoreError> {
        if self.local(&task.id).is_some() {
            // Its lease could not be renewed in time, and its run notices that itself.
            return Ok(false);
        }
        let Loaded {
            key,
            version,
            record,
        } = match Loaded::read(task) {
            Ok(loaded) => loaded,
            Err(newer) => {
                if self.newer.is_due() {
                    tracing::warn!(id = ?task.id, "a task that is due is left alone: {newer}");
                }
                return Ok(false);
            }
        };
        let id = &key.id;
        if Record::read(task).is_err() {
            self.store_record(&key, version, record).await?;
            return Ok(true);
        }
        if record.is_final() {
            tracing::debug!(?id, "an expired task is deleted");
            self.remove(id, version).await?;
            return Ok(true);
        }
        match self.verdict(&key, &record, leases) {
            Verdict::Wait | Verdict::NoRoom => return Ok(false),
            Verdict::Resume => return self.take_over(server, (key, version, record)).await,
            Verdict::Postpone => self.store_record(&key, version, record).await?,
            Verdict::Fail(reason) => {
                let mut record = record;
                record.end(key.created_ms, Outcome::failed(&*reason));
                let failed = self.store_record(&key, version, record).await?;
                if failed {
                    tracing::warn!(?id, reason, "an interrupted task has failed");
                }
                failed
            }
        };
        Ok(true)
    }

    /// Decides about a task whose lease has ended.
    fn verdict(&self, key: &TaskKey, record: &Record, leases: Leases) -> Verdict {
        let policy = &record.policy;
        if record.run.is_some() && leases == Leases::Unknown {
            return Verdict::Wait;
        }
        let is_overdue = record.time_left(key.created_ms).is_zero();
        if policy.external && record.run.is_none() {
            if !is_overdue {
                return Verdict::Postpone;
            }
            return Verdict::Fail("the task was not completed in time".to_owned());
        }
        if is_overdue {
            return Verdict::Fail("the task exceeded its maximum run time".to_owned());
        }
        if !policy.resumable || record.unconfirmed {
            return Verdict::Fail(interrupted(record));
        }
        if record.attempts >= self.limits.attempts {
            let attempts = record.attempts;
            return Verdict::Fail(format!("interrupted by a restart {attempts} times"));
        }
        if self.has_room() {
            Verdict::Resume
        } else {
            Verdict::NoRoom
        }
    }

    /// Claims an interrupted task, and runs its call again. Returns `false` if the task stays due.
    async fn take_over(
        self: &Arc<Self>,
        server: &Server,
        (key, version, mut record): (TaskKey, u64, Record),
    ) -> Result<bool, StoreError> {
        let call = record.call.as_ref().and_then(CallText::read);
        if self.is_starting() && call.as_ref().is_some_and(|call| may_add_tool(server, call)) {
            return Ok(false);
        }
        let Some(run) = random_run_id() else {
            return Ok(false);
        };
        record.claim(run, self.limits.lease);
        let run = Run::new(self, key, (version + 1, record.clone()), Instant::now());
        // Before the claim is stored: one without a run would cost an attempt, and a release would not find it.
        if !self.admit(&run) {
            return Ok(false);
        }
        let attempt = record.attempts;
        let claimed = self.store_record(&run.key, version, record).await;
        if !matches!(claimed, Ok(true)) {
            run.dismiss();
            return claimed.map(|_| true);
        }
        tracing::info!(id = ?run.key.id, attempt, "an interrupted task runs again");
        let link = Arc::clone(&run);
        let resumed = call.map(|call| resume(server, &call, link));
        spawn_lasting(async move {
            match resumed {
                Some(Ok(work)) => drive(run, Box::pin(work)).await,
                Some(Err(error)) => run.give_up(&error.message).await,
                None => run.give_up("its record has no call that can be read").await,
            }
        });
        Ok(true)
    }

    async fn store_record(
        &self,
        key: &TaskKey,
        version: u64,
        record: Record,
    ) -> Result<bool, StoreError> {
        let wake = record.wake(key.created_ms);
        let stored = record.store(key, version + 1);
        let stored = stored
            .map_err(|damaged| StoreError::Other(not_written(damaged).message.into_owned()))?;
        let replaced = self.replace(stored, wake).await?;
        if replaced {
            self.watch.publish(key, version + 1, &record);
        }
        Ok(replaced)
    }
}

/// Decision about a task whose lease has ended.
enum Verdict {
    /// It stays due.
    Wait,
    /// It stays due: the process runs as many tasks as it may.
    NoRoom,
    /// It is due again at the end of its run time: a process whose clock differs has stored the wake time.
    Postpone,
    Resume,
    Fail(String),
}

/// Returns the reason why an interrupted task fails.
fn interrupted(record: &Record) -> String {
    let mut keys = record
        .journal
        .begun
        .iter()
        .filter(|_| !record.policy.repeatable);
    match keys.next() {
        None => "interrupted by a restart".to_owned(),
        Some(key) => {
            format!("interrupted by a restart while `once(\"{key}\")` ran; it may have happened")
        }
    }
}
