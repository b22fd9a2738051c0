//! Methods of the extension: `tasks/get`, `tasks/update` and `tasks/cancel`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use treenail_runtime::internal::extension::writing_method;
use treenail_runtime::{Context, RpcError};
use treenail_runtime::{Extension, ExtensionMethod};
use treenail_schema::Revision;

use crate::engine::{Engine, owner};
use crate::record::{Answer, Form, Outcome, Polled};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskParams {
    task_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateParams {
    task_id: String,
    input_responses: BTreeMap<String, Box<RawValue>>,
}

pub(super) fn add(extension: Extension, engine: &Arc<Engine>) -> Extension {
    let (reading, updating, cancelling) =
        (Arc::clone(engine), Arc::clone(engine), Arc::clone(engine));
    let methods = [
        writing_method("tasks/get", move |context: Context, params: TaskParams| {
            get(Arc::clone(&reading), context, params)
        }),
        ExtensionMethod::new(
            "tasks/update",
            move |context: Context, params: UpdateParams| {
                update(Arc::clone(&updating), context, params)
            },
        ),
        ExtensionMethod::new(
            "tasks/cancel",
            move |context: Context, params: TaskParams| {
                cancel(Arc::clone(&cancelling), context, params)
            },
        ),
    ];
    methods.into_iter().fold(extension, |extension, method| {
        let method = method.name_header("taskId");
        extension.add_method(method.revisions(Revision::V2026_07_28..))
    })
}

/// Returns the task with its questions or its outcome. It has no effect.
async fn get(
    engine: Arc<Engine>,
    context: Context,
    params: TaskParams,
) -> Result<Polled, RpcError> {
    engine.start(context.server());
    let task = engine.poll(&params.task_id, owner(&context)).await?;
    let form = Form::Complete;
    Ok(Polled { task, form })
}

/// Stores answers. Those to questions that are not open are ignored (TASK-S-19).
async fn update(
    engine: Arc<Engine>,
    context: Context,
    params: UpdateParams,
) -> Result<(), RpcError> {
    engine.start(context.server());
    let most = engine.limits.journal_bytes;
    let edited = engine.edit(&params.task_id, owner(&context), |task| {
        let mut changed = false;
        for (key, value) in &params.input_responses {
            changed |= task.record.answer(key, Answer::Value(value.clone()));
        }
        if changed && task.record.journal_bytes() > most {
            return Err(RpcError::invalid_params(format!(
                "`params.inputResponses` is too large: the task has room for {most} bytes of questions and answers"
            )));
        }
        Ok(changed)
    });
    edited.await.map(drop)
}

/// Cancels the task at once, unless it has ended (XAMB-04).
async fn cancel(engine: Arc<Engine>, context: Context, params: TaskParams) -> Result<(), RpcError> {
    engine.start(context.server());
    let edited = engine.edit(&params.task_id, owner(&context), |task| {
        Ok(task.record.end(task.key.created_ms, Outcome::Cancelled))
    });
    edited.await.map(drop)
}
