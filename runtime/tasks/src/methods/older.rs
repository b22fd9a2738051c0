//! Methods of revision 2025-11-25: `tasks/get`, `tasks/cancel` and `tasks/list`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use treenail_runtime::{Context, RpcError};
use treenail_runtime::{Extension, ExtensionMethod};
use treenail_schema::Revision;

use super::questions::offer;
use crate::engine::{Engine, Loaded, owner, store_failed};
use crate::record::{Form, Outcome, View};
use crate::store::StoreError;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskParams {
    pub(super) task_id: String,
}

#[derive(Deserialize)]
struct ListParams {
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    tasks: Vec<View<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

pub(super) fn add(extension: Extension, engine: &Arc<Engine>) -> Extension {
    let (reading, cancelling) = (Arc::clone(engine), Arc::clone(engine));
    let get = ExtensionMethod::new("tasks/get", move |context: Context, params: TaskParams| {
        get(Arc::clone(&reading), context, params)
    });
    let cancel = ExtensionMethod::new(
        "tasks/cancel",
        move |context: Context, params: TaskParams| {
            cancel(Arc::clone(&cancelling), context, params)
        },
    );
    extension
        .add_method(of_core(get))
        .add_method(of_core(cancel))
}

pub(super) fn add_list(extension: Extension, engine: &Arc<Engine>) -> Extension {
    let engine = Arc::clone(engine);
    let list = ExtensionMethod::new("tasks/list", move |context: Context, params: ListParams| {
        list(Arc::clone(&engine), context, params)
    });
    extension.add_method(of_core(list))
}

/// Makes a method of the core of 2025-11-25, for which a client declares no extension.
pub(super) fn of_core(method: ExtensionMethod) -> ExtensionMethod {
    let only = Revision::V2025_11_25;
    method.ungated().revisions(only..=only)
}

async fn get(
    engine: Arc<Engine>,
    context: Context,
    params: TaskParams,
) -> Result<Box<RawValue>, RpcError> {
    engine.start(context.server());
    let task = engine.load(&params.task_id, owner(&context)).await?;
    offer(&engine, &context, &task);
    write(&View::new(&task.key, &task.record, Form::Older))
}

/// Cancels the task before the answer. A task that has ended is refused (LTASK-B-10).
async fn cancel(
    engine: Arc<Engine>,
    context: Context,
    params: TaskParams,
) -> Result<Box<RawValue>, RpcError> {
    let edited = engine.edit(&params.task_id, owner(&context), |task| {
        if task.record.end(task.key.created_ms, Outcome::Cancelled) {
            return Ok(true);
        }
        Err(RpcError::invalid_params("the task has already ended"))
    });
    let task = edited.await?;
    write(&View::new(&task.key, &task.record, Form::Older))
}

async fn list(
    engine: Arc<Engine>,
    context: Context,
    params: ListParams,
) -> Result<Box<RawValue>, RpcError> {
    let invalid =
        || RpcError::invalid_params("`params.cursor` is not valid; list again without it");
    let after = params
        .cursor
        .map(|cursor| cursor.parse().map_err(|_| invalid()));
    let after = after.transpose()?;
    let size = engine.limits.page_size.max(1);
    // One more shows that there is another page.
    let listed = engine.list(owner(&context), after.as_ref(), size + 1).await;
    let mut stored = listed.map_err(|error| match error {
        StoreError::UnknownTask => invalid(),
        error => store_failed(&error),
    })?;
    let more = stored.len() > size;
    stored.truncate(size);
    let tasks: Vec<Loaded> = stored.iter().map(Loaded::read).collect();
    let last = tasks.last().filter(|_| more);
    write(&Page {
        tasks: tasks
            .iter()
            .map(|task| View::new(&task.key, &task.record, Form::Older))
            .collect(),
        next_cursor: last.map(|task| task.key.id.as_str()),
    })
}

fn write(value: &impl Serialize) -> Result<Box<RawValue>, RpcError> {
    to_raw_value(value).map_err(|error| RpcError::internal(error.to_string()))
}
