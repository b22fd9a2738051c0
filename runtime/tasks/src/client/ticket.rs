//! Name of a task across processes.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use treenail_runtime::client::{ClientError, McpClient};
use treenail_schema::Revision;

/// Reference to a task that can be stored, and resumed in another process with
/// [`resume_task`](crate::TaskClientExt::resume_task).
///
/// It contains no credentials. On a server without authorization the id of a task is enough to read its result, so store
/// tickets where other users cannot read them.
///
/// ```
/// use treenail::prelude::*;
/// use treenail::tasks::TaskTicket;
///
/// # async fn example(client: &McpClient, stored: &str) -> Result<(), Box<dyn std::error::Error>> {
/// let ticket: TaskTicket = serde_json::from_str(stored)?;
/// let result = client.resume_task(&ticket)?.wait().await?;
/// # let _ = result;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "client")]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTicket {
    task: String,
    tool: String,
    /// Name of the server, as it reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    revision: String,
    /// Time of the creation, in milliseconds of Unix time.
    created: u64,
}

impl TaskTicket {
    pub(super) fn new(client: &McpClient, tool: &str, task: &str, age: Duration) -> Self {
        let session = client.session();
        let created = unix_time().saturating_sub(age);
        Self {
            task: task.to_owned(),
            tool: tool.to_owned(),
            server: session.server_info().map(|info| info.name),
            revision: session.protocol_version().as_str().to_owned(),
            created: u64::try_from(created.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Returns the id of the task.
    pub fn id(&self) -> &str {
        &self.task
    }

    /// Returns the name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the name of the server, as it reports it.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Returns the revision in which the task was created.
    pub fn revision(&self) -> Option<Revision> {
        self.revision.parse().ok()
    }

    /// Returns the time of the creation, by the clock of the process that created the ticket.
    pub fn created(&self) -> SystemTime {
        let created = UNIX_EPOCH.checked_add(Duration::from_millis(self.created));
        created.unwrap_or(UNIX_EPOCH)
    }

    /// Returns the age of the task.
    pub(super) fn age(&self) -> Duration {
        unix_time().saturating_sub(Duration::from_millis(self.created))
    }

    /// Rejects the ticket of another server.
    pub(super) fn check_server(&self, client: &McpClient) -> Result<(), ClientError> {
        let connected = client.session().server_info().map(|info| info.name);
        if let (Some(expected), Some(connected)) = (&self.server, connected) {
            if *expected != connected {
                let reason = format!(
                    "the task belongs to the server `{expected}`, and this is `{connected}`"
                );
                return Err(ClientError::invalid(reason));
            }
        }
        Ok(())
    }
}

fn unix_time() -> Duration {
    treenail_runtime::internal::system_time()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

impl fmt::Debug for TaskTicket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The id may be enough to read the result.
        formatter
            .debug_struct("TaskTicket")
            .field("tool", &self.tool)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
