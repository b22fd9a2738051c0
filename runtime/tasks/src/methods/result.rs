//! `tasks/result` of revision 2025-11-25: it waits for the end of the task, and carries its questions to the client.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use treenail_runtime::internal::deadline;
use treenail_runtime::{Context, RpcError, Server};
use treenail_runtime::{Extension, ExtensionMethod};
use treenail_schema::{Revision, error_code};

use super::older::{TaskParams, of_core};
use super::questions::{Questions, until};
use crate::engine::{Engine, Loaded, owner};
use crate::record::Outcome;
use crate::run::StoreRetry;
use crate::store::TaskId;

/// Key of `_meta` in the messages of a task.
pub(super) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

pub(super) fn add(extension: Extension, engine: &Arc<Engine>) -> Extension {
    let engine = Arc::clone(engine);
    let method = ExtensionMethod::new(
        "tasks/result",
        move |context: Context, params: TaskParams| result(Arc::clone(&engine), context, params),
    );
    extension.add_method(of_core(method))
}

/// Returns the result or the error of the call, once there is one.
async fn result(
    engine: Arc<Engine>,
    context: Context,
    params: TaskParams,
) -> Result<Map<String, Value>, RpcError> {
    engine.start(context.server());
    let mut questions = Questions::new(&engine, &context);
    let mut reads = Reads::default();
    let (mut closing, mut is_closing) = (pin!(closing(&engine, context.server())), false);
    loop {
        // Before the record is read, so that no change is missed.
        let changes = engine.changes(&params.task_id);
        let (changes, interval) = match engine.load(&params.task_id, owner(&context)).await {
            Ok(task) => {
                if let Some(outcome) = &task.record.outcome {
                    return finish(&context, &task, outcome);
                }
                reads.succeeded();
                questions.ask(&task);
                (changes, engine.limits.watch_interval)
            }
            // The user may be answering a question, which the end of the request would withdraw.
            Err(error) => (None, reads.failed(error, engine.limits.lease)?),
        };
        if is_closing {
            let reason = "the server shuts down; request the result again";
            return Err(RpcError::internal(reason));
        }
        let mut change = pin!(next_change(changes, interval));
        let waiting = poll_fn(|context| {
            questions.poll(context);
            change.as_mut().poll(context)
        });
        is_closing = until(waiting, closing.as_mut()).await.is_none();
    }
}

/// Waits until the server closes, if another process can return the result. Otherwise the task ends with the process, so the
/// request is one of the calls that the server finishes first.
async fn closing(engine: &Engine, server: &Server) {
    if engine.is_durable() {
        server.closed().await;
    } else {
        pending::<()>().await;
    }
}

/// Reads of one record, which are repeated while the store fails.
#[derive(Default)]
struct Reads {
    /// True once a read has succeeded.
    is_known: bool,
    /// The attempts since the first failure, and their end.
    outage: Option<(StoreRetry, Instant)>,
}

impl Reads {
    fn succeeded(&mut self) {
        self.is_known = true;
        self.outage = None;
    }

    /// Returns the delay before the next read, or the error if there is none: the task is unknown, or the store has failed for
    /// the time of a lease.
    fn failed(&mut self, error: RpcError, lease: Duration) -> Result<Duration, RpcError> {
        if !self.is_known || error.code == error_code::INVALID_PARAMS {
            return Err(error);
        }
        let started = || (StoreRetry::default(), deadline::after(lease));
        let (retry, end) = self.outage.get_or_insert_with(started);
        retry.next_delay(*end).ok_or(error)
    }
}

impl Engine {
    /// Returns a receiver of changes from now on, if the task runs in this process.
    fn changes(&self, id: &str) -> Option<watch::Receiver<u64>> {
        let id: TaskId = id.parse().ok()?;
        self.local(&id).map(|run| run.changes())
    }
}

/// Waits until the task may have changed.
async fn next_change(changes: Option<watch::Receiver<u64>>, interval: Duration) {
    match changes {
        // All of these are a reason to read the record again.
        Some(mut changes) => drop(timeout(interval, changes.changed()).await),
        None => sleep(interval).await,
    }
}

/// Returns the outcome as the call would have returned it, with the id of its task.
fn finish(
    context: &Context,
    task: &Loaded,
    outcome: &Outcome,
) -> Result<Map<String, Value>, RpcError> {
    let result = match outcome {
        Outcome::Result(result) | Outcome::Failure(result) => result,
        Outcome::Error(error) => return Err(error.clone().into_rpc_error()),
        Outcome::Cancelled => {
            return Err(RpcError::invalid_params(
                "the task was cancelled and has no result",
            ));
        }
    };
    let (shape, revision) = (task.record.shape, Revision::V2025_11_25);
    let result = shape.text(context.server(), revision, result.get())?;
    let not_json = |error: serde_json::Error| RpcError::internal(error.to_string());
    let mut members: Map<String, Value> = serde_json::from_str(&result).map_err(not_json)?;
    let meta = members.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta {
        meta.insert(RELATED_TASK.to_owned(), related(task));
    }
    Ok(members)
}

/// Returns the value of [`RELATED_TASK`].
pub(super) fn related(task: &Loaded) -> Value {
    json!({ "taskId": task.key.id.as_str() })
}
