//! Requests about one task.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use treenail_runtime::client::{ClientError, McpClientSession, Subscription};
use treenail_runtime::internal::TaskSession as _;
use treenail_runtime::internal::deadline::NEVER;
use treenail_schema::{Revision, error_code};

use crate::client::snapshot::Snapshot;

/// Future that owns everything it needs.
pub(super) type Owned<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Maximum length of the id of a task, or of the key of a question, in bytes.
pub(super) const MAX_ID_BYTES: usize = 4_096;

/// A task on its server.
#[derive(Clone, Debug)]
pub(super) struct RemoteTask {
    pub(super) session: Arc<McpClientSession>,
    pub(super) id: Arc<str>,
}

impl RemoteTask {
    /// Creates a reference to a task.
    ///
    /// # Errors
    ///
    /// If the id is too long, or the revision of the session has no tasks.
    pub(super) fn new(session: &McpClientSession, id: &str) -> Result<Self, ClientError> {
        if id.len() > MAX_ID_BYTES {
            let reason = format!("the id of a task is longer than {MAX_ID_BYTES} bytes");
            return Err(ClientError::protocol(reason));
        }
        let revision = session.protocol_version();
        if revision < Revision::V2025_11_25 {
            let reason = format!("revision {revision} of the protocol has no tasks");
            return Err(ClientError::unsupported(reason));
        }
        Ok(Self {
            session: Arc::new(session.shared()),
            id: id.into(),
        })
    }

    /// Returns true in the modern era.
    pub(super) fn is_modern(&self) -> bool {
        self.session.protocol_version().is_modern()
    }

    /// `tasks/get`.
    pub(super) fn get(&self) -> Owned<Result<Snapshot, ClientError>> {
        let task = self.clone();
        Box::pin(async move {
            let text = task.request("tasks/get", json!({})).await?;
            let snapshot = Snapshot::read(&text)?;
            task.check_id(&snapshot)?;
            Ok(snapshot)
        })
    }

    /// `tasks/result` (revision 2025-11-25), which waits for the end of the task.
    pub(super) fn result(&self) -> Owned<Result<String, ClientError>> {
        let task = self.clone();
        Box::pin(async move {
            let params = json!({"taskId": &*task.id}).to_string();
            task.session
                .task_request("tasks/result", params, NEVER)
                .await
        })
    }

    /// `tasks/update`, with the JSON text of each answer by its key.
    pub(super) fn update(&self, answers: &Value) -> Owned<Result<(), ClientError>> {
        let (task, answers) = (self.clone(), json!({"inputResponses": answers}));
        Box::pin(async move { task.request("tasks/update", answers).await.map(drop) })
    }

    /// `tasks/cancel`. Succeeds for a task that has already ended.
    pub(super) async fn cancel(&self) -> Result<(), ClientError> {
        let Err(error) = self.request("tasks/cancel", json!({})).await else {
            return Ok(());
        };
        // Revision 2025-11-25 refuses to cancel a task that has ended.
        if !self.is_modern() && is_invalid_params(&error) {
            let ended = self
                .get()
                .await
                .is_ok_and(|snapshot| snapshot.update.is_final());
            if ended {
                return Ok(());
            }
        }
        Err(error)
    }

    /// Subscribes to the changes of the task; `None` if the server does not push them.
    pub(super) fn listen(&self) -> Owned<Result<Option<Subscription>, ClientError>> {
        let task = self.clone();
        Box::pin(async move { task.session.listen_to_task(&task.id).await })
    }

    /// Rejects the state of another task.
    pub(super) fn check_id(&self, snapshot: &Snapshot) -> Result<(), ClientError> {
        if snapshot.id == *self.id {
            return Ok(());
        }
        Err(ClientError::protocol("it sent the state of another task"))
    }

    async fn request(
        &self,
        method: &'static str,
        mut params: Value,
    ) -> Result<String, ClientError> {
        params["taskId"] = json!(&*self.id);
        let limit = self.limit();
        self.session
            .task_request(method, params.to_string(), limit)
            .await
    }

    fn limit(&self) -> Duration {
        self.session.client_limits().request_timeout
    }
}

/// Returns true for the error of an unknown task.
pub(super) fn is_invalid_params(error: &ClientError) -> bool {
    let refused = error.as_refused();
    refused.is_some_and(|error| error.code == error_code::INVALID_PARAMS)
}
