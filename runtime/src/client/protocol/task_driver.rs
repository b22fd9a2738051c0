//! Interface of drivers, which wait for the outcome of calls that have become tasks, and the messages of such calls.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::client::ClientError;
use crate::wire::Members;

/// Future of the result of a task, as JSON text.
pub type TaskFuture = Pin<Box<dyn Future<Output = Result<String, ClientError>> + Send>>;

/// Callback for the status messages of a task.
pub type StatusSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Driver of calls that become tasks.
pub trait TaskDriver: fmt::Debug + Send + Sync + 'static {
    /// Returns the future of the call's result. Dropping it before its end cancels the task, polled or not.
    fn outcome(&self, task: CreatedTask) -> TaskFuture;

    /// Returns the permits for subscriptions to tasks, `max` of them at the first call.
    fn subscription_permits(&self, max: usize) -> Arc<Semaphore>;
}

/// Call that has become a task.
pub struct CreatedTask {
    /// The core of the session that made the call. Its type is erased because it contains the driver: the interface of drivers
    /// depends on no session.
    pub(super) inner: Arc<dyn Any + Send + Sync>,
    /// The result that created the task, as JSON text.
    pub text: String,
    /// Callback of the caller for status messages, if it asked for progress.
    pub on_status: Option<StatusSink>,
}

impl fmt::Debug for CreatedTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CreatedTask")
            .finish_non_exhaustive()
    }
}

/// Part of a result that created a task.
#[derive(Default)]
pub(in crate::client) struct NewTask {
    pub(in crate::client) on_status: Option<StatusSink>,
}

impl fmt::Debug for NewTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NewTask").finish_non_exhaustive()
    }
}

/// Returns true if the result of a call with the parameter `task` has created one, in revision 2025-11-25.
pub(super) fn creates_legacy_task(text: &str) -> bool {
    let Ok(mut members) = Members::new(text) else {
        return false;
    };
    while let Ok(Some((key, value))) = members.next() {
        if key == "task" {
            return value.starts_with('{');
        }
    }
    false
}

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Returns the answer to a request of a task with the key of the task, as revision 2025-11-25 requires.
pub(super) fn relate_answer(request_params: &str, answer: String) -> String {
    #[derive(Deserialize)]
    struct Related<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: Meta<'a>,
    }
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(borrow, rename = "io.modelcontextprotocol/related-task")]
        task: &'a RawValue,
    }

    if !request_params.contains(RELATED_TASK) {
        return answer;
    }
    let (Ok(related), Ok(Value::Object(mut answered))) = (
        serde_json::from_str::<Related<'_>>(request_params),
        serde_json::from_str::<Value>(&answer),
    ) else {
        return answer;
    };
    let meta = answered.entry("_meta").or_insert_with(|| json!({}));
    if let (Value::Object(meta), Ok(task)) = (meta, serde_json::from_str(related.meta.task.get())) {
        meta.insert(RELATED_TASK.to_owned(), task);
    }
    Value::Object(answered).to_string()
}
