//! Methods of revision 2025-11-25: `tasks/get`, `tasks/cancel` and `tasks/list`.

use std::sync::Arc;

use serde::Deserialize;
use treenail_runtime::internal::extension::{WriteResult, writing_method};
use treenail_runtime::internal::task::ResultWriter;
use treenail_runtime::{Context, RpcError};
use treenail_runtime::{Extension, ExtensionMethod};
use treenail_schema::Revision;

use super::questions::offer;
use crate::engine::{Engine, not_written, owner, store_failed};
use crate::record::{Form, Outcome, Polled, has_questions};
use crate::store::{StoreError, StoredTask, TaskId};

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

/// Number of tasks of a list that are read at once. They may be large, and their outcomes are no part of the list.
const READ_TASKS: usize = 16;

/// Page of a list: the texts of its tasks.
#[derive(Default)]
struct Page {
    tasks: Vec<Vec<u8>>,
    /// The last task of the page, if there is another page.
    last: Option<TaskId>,
}

impl WriteResult for Page {
    fn write(self, result: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        result.push(br#"{"tasks":["#);
        for (index, task) in self.tasks.iter().enumerate() {
            if index > 0 {
                result.push(b",");
            }
            result.push(task);
        }
        result.push(b"]");
        if let Some(last) = self.last {
            result.push(br#","nextCursor":""#);
            result.push(last.as_str().as_bytes());
            result.push(b"\"");
        }
        result.end(None);
        Ok(())
    }
}

pub(super) fn add(extension: Extension, engine: &Arc<Engine>) -> Extension {
    let (reading, cancelling) = (Arc::clone(engine), Arc::clone(engine));
    let get = writing_method("tasks/get", move |context: Context, params: TaskParams| {
        get(Arc::clone(&reading), context, params)
    });
    let cancel = writing_method(
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
    let list = writing_method("tasks/list", move |context: Context, params: ListParams| {
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
) -> Result<Polled, RpcError> {
    engine.start(context.server());
    let task = engine.poll(&params.task_id, owner(&context)).await?;
    if has_questions(&task.state) {
        offer(&engine, &context, &params.task_id).await?;
    }
    Ok(polled(task))
}

/// Cancels the task before the answer. A task that has ended is refused (LTASK-B-10).
async fn cancel(
    engine: Arc<Engine>,
    context: Context,
    params: TaskParams,
) -> Result<Polled, RpcError> {
    engine.start(context.server());
    let edited = engine.edit(&params.task_id, owner(&context), |task| {
        if task.record.end(task.key.created_ms, Outcome::Cancelled) {
            return Ok(true);
        }
        Err(RpcError::invalid_params("the task has already ended"))
    });
    let task = edited.await?;
    let stored = task.record.store(&task.key, task.version);
    stored.map(polled).map_err(not_written)
}

async fn list(engine: Arc<Engine>, context: Context, params: ListParams) -> Result<Page, RpcError> {
    engine.start(context.server());
    let invalid =
        || RpcError::invalid_params("`params.cursor` is not valid; list again without it");
    let after = params
        .cursor
        .map(|cursor| cursor.parse().map_err(|_| invalid()));
    let mut last = after.transpose()?;
    let size = engine.limits.page_size.max(1);
    let mut page = Page::default();
    loop {
        // One more shows that there is another page.
        let count = (size - page.tasks.len()).saturating_add(1).min(READ_TASKS);
        let listed = engine.list(owner(&context), last.as_ref(), count).await;
        let listed = listed.map_err(|error| match error {
            StoreError::UnknownTask => invalid(),
            error => store_failed(&error),
        })?;
        let is_end = listed.len() < count;
        for task in listed {
            if page.tasks.len() == size {
                page.last = last;
                return Ok(page);
            }
            last = Some(task.id.clone());
            let mut text = Vec::new();
            // A task of a newer version hides no others.
            let written = polled(task).write(&mut ResultWriter::of_text(&mut text, None));
            page.tasks.extend(written.is_ok().then_some(text));
        }
        if is_end {
            return Ok(page);
        }
    }
}

fn polled(task: StoredTask) -> Polled {
    let form = Form::Older;
    Polled { task, form }
}
