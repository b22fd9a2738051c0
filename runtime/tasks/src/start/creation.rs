//! Creation of a task: its record is durable before the client hears of it.

use std::sync::Arc;

use tokio::time::Instant;
use treenail_runtime::internal::task::StoredCall;
use treenail_runtime::{RpcError, Server};

use crate::clock;
use crate::engine::{Creation, Engine, not_written, store_failed};
use crate::record::{Policy, Record, TaskKey};
use crate::run::{BACKOFF, Run, Stop, random_run_id};
use crate::store::{StoreError, TaskId};

/// Shortest time that a client of 2025-11-25 can wish for a result to remain readable, in milliseconds.
const LEAST_TTL_MS: u64 = 60_000;

/// Task that is to be created.
#[derive(Debug)]
pub(super) struct NewTask {
    pub(super) server: Server,
    pub(super) engine: Arc<Engine>,
    pub(super) owner: Box<str>,
    pub(super) policy: Policy,
}

impl NewTask {
    /// Applies the lifetime that a client wishes. A longer one than the configured one is not granted.
    pub(super) fn wish(&mut self, ttl_ms: Option<u64>) {
        if let Some(ttl) = ttl_ms {
            self.policy.keep_ms = self.policy.keep_ms.min(ttl.max(LEAST_TTL_MS));
        }
    }

    /// Checks that the owner may have one more task, and that a task would outlive a server that closes.
    pub(super) async fn admit(self, call: StoredCall) -> Result<Admitted, RpcError> {
        let Self { engine, owner, .. } = &self;
        if self.server.is_closed() && !engine.is_durable() {
            return Err(RpcError::internal(
                "the server shuts down, and its tasks end with it",
            ));
        }
        let mut creation = engine.creations.start(owner);
        let usage = engine.usage(owner).await;
        let usage = usage.map_err(|error| store_failed(&error))?;
        let texts = [&call.arguments, &call.meta].into_iter().flatten();
        let bytes = texts.map(|text| text.get().len() as u64).sum();
        if let Err(used) = creation.admit(usage, bytes, &engine.limits) {
            let (tasks, bytes) = (used.tasks, used.bytes);
            if engine.not_created.is_due() {
                tracing::warn!(
                    tasks,
                    bytes,
                    "a task was not created: its owner has too many"
                );
            }
            return Err(RpcError::internal(
                "the caller has too many tasks; try again later",
            ));
        }
        Ok(Admitted {
            task: self,
            call,
            creation,
        })
    }
}

/// Task that its owner may have.
#[derive(Debug)]
pub(super) struct Admitted {
    task: NewTask,
    call: StoredCall,
    creation: Creation,
}

impl Admitted {
    /// Makes the run of the task, whose record is not stored yet.
    pub(super) fn prepare(self) -> Result<(Arc<Run>, Creation), RpcError> {
        let NewTask {
            engine,
            owner,
            policy,
            ..
        } = self.task;
        let no_random = || RpcError::internal("no random bytes for the id of a task");
        let key = TaskKey {
            id: TaskId::random().map_err(|_| no_random())?,
            owner,
            created_ms: clock::now_ms(),
        };
        let run = random_run_id().ok_or_else(no_random)?;
        let mut record = Record::new(&self.call, policy);
        record.claim(run, engine.limits.lease);
        let run = Run::before_creation(&engine, key, record);
        if engine.admit(&run) {
            return Ok((run, self.creation));
        }
        if engine.not_created.is_due() {
            tracing::warn!("a task was not created: the process runs too many");
        }
        Err(RpcError::internal(
            "the server runs too many tasks; try again later",
        ))
    }
}

/// Stores the record of a prepared task.
pub(super) async fn insert(run: Arc<Run>, creation: Creation) -> Result<Arc<Run>, RpcError> {
    let (engine, record) = (&run.engine, run.record());
    let since = Instant::now();
    let inserted = async {
        let stored = record.store(&run.key, 1).map_err(not_written)?;
        let inserted = engine.insert(stored, engine.limits.lease).await;
        inserted.map_err(|error| {
            if !matches!(error, StoreError::Duplicate | StoreError::Full(_)) {
                // It may have been stored all the same.
                engine.disown(&run);
            }
            store_failed(&error)
        })
    };
    let inserted = inserted.await;
    drop(creation);
    match inserted {
        Ok(()) => {
            let tool = || Some(record.call.as_ref()?.read()?.tool);
            tracing::debug!(id = ?run.key.id, tool = tool(), "a call became a task");
            run.created(since).await;
            Ok(run)
        }
        Err(error) => {
            run.not_created();
            run.dismiss();
            Err(error)
        }
    }
}

/// Removes a task whose call returned, or was dropped, while the task was created. The client never hears of it.
pub(super) async fn remove(run: Arc<Run>) {
    let (engine, id) = (&run.engine, &run.key.id);
    // Work that the function has left behind stores nothing more.
    run.stop(Stop::Lost);
    run.dismiss();
    for failures in 1..=5 {
        match engine.remove(id, run.version()).await {
            Ok(true) => {
                tracing::debug!(?id, "an unused task was removed");
                return;
            }
            // A change was under way, or was stored although the store reported a failure.
            Ok(false) => {
                let _ = run.refresh().await;
            }
            Err(error) => tracing::warn!(?id, %error, "an unused task could not be removed"),
        }
        tokio::time::sleep(BACKOFF.delay(failures)).await;
    }
    engine.disown(&run);
}
