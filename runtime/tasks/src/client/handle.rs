//! Task in the hands of the caller.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::{CreatedTask, ResultReader, Started};

use crate::client::driver::{read_created, report_to};
use crate::client::observation::{Observation, Observed};
use crate::client::observer::{Observer, Publish};
use crate::client::remote::RemoteTask;
use crate::client::snapshot::TaskUpdate;
use crate::client::ticket::TaskTicket;
use crate::client::updates::{Publisher, TaskUpdates};

/// Call that runs as a task of the server. Returned by [`task`](crate::TaskCallExt::task) and
/// [`resume_task`](crate::TaskClientExt::resume_task).
///
/// ```
/// use serde_json::json;
/// use treenail::prelude::*;
///
/// # async fn example(client: &McpClient) -> Result<(), Box<dyn std::error::Error>> {
/// let mut report = client.call_tool("report", json!({"year": 2026})).task().await?;
/// if let Some(ticket) = report.ticket() {
///     std::fs::write("report.json", serde_json::to_string(&ticket)?)?;
/// }
/// let result = report.wait().await?;
/// # let _ = result;
/// # Ok(())
/// # }
/// ```
///
/// Not every call becomes a task: the server decides. If it has answered directly, the handle has the result already.
///
/// # Observation
///
/// [`wait`](Self::wait) and [`updates`](Self::updates) start the observation of the task, in the background. It subscribes to
/// the changes of the task where the server pushes them, polls it otherwise, and answers its questions through the handlers of
/// the client. Before that, and after the handle is dropped, the questions of the task stay open.
///
/// # Cancellation
///
/// Dropping the handle does not cancel the task, which continues without this client. [`ticket`](Self::ticket) names it for
/// later; [`cancel`](Self::cancel) ends it.
#[cfg(feature = "client")]
#[must_use = "dropping the handle leaves the task without a client"]
pub struct TaskHandle<T> {
    reader: ResultReader<T>,
    state: State<T>,
    publisher: Arc<Publisher>,
}

enum State<T> {
    /// The server has answered directly; `None` after the result was taken.
    Finished(Option<T>),
    Task(Box<Observed>),
}

impl<T> TaskHandle<T> {
    /// Creates a handle to a call that the server has answered.
    pub(super) fn started(
        started: Started<T>,
        reader: ResultReader<T>,
    ) -> Result<Self, ClientError> {
        let created = match started {
            Started::Finished(output) => {
                let publisher = Arc::<Publisher>::default();
                publisher.close();
                return Ok(Self {
                    reader,
                    state: State::Finished(Some(output)),
                    publisher,
                });
            }
            Started::Task(created) => created,
        };
        let (task, first) = read_created(&created)?;
        let publisher = Arc::new(Publisher::default());
        let publish = publish_to(&publisher, Some(created));
        let observer = Observer::created(task.clone(), &first, publish);
        Ok(Self::observed(
            reader,
            task,
            publisher,
            (observer, Duration::ZERO),
        ))
    }

    /// Creates a handle to a task of an earlier call.
    pub(super) fn resumed(
        ticket: &TaskTicket,
        reader: ResultReader<T>,
    ) -> Result<Self, ClientError> {
        ticket.check_server(reader.client())?;
        let task = RemoteTask::new(reader.client().session(), ticket.id())?;
        let publisher = Arc::new(Publisher::default());
        let publish = publish_to(&publisher, None);
        let age = ticket.age();
        let observer = Observer::new(task.clone(), publish, age);
        Ok(Self::observed(reader, task, publisher, (observer, age)))
    }

    fn observed(
        reader: ResultReader<T>,
        task: RemoteTask,
        publisher: Arc<Publisher>,
        (observer, age): (Observer, Duration),
    ) -> Self {
        let task = Observed {
            task,
            age,
            since: Instant::now(),
            observation: Observation::Idle(Box::new(Some(observer))),
        };
        Self {
            reader,
            state: State::Task(Box::new(task)),
            publisher,
        }
    }

    /// Returns the id of the task; `None` if the server has answered the call directly.
    pub fn id(&self) -> Option<&str> {
        Some(&self.task()?.id)
    }

    /// Returns the name of the tool.
    pub fn tool(&self) -> &str {
        self.reader.name()
    }

    /// Returns a ticket to resume the task later; `None` if the server has answered the call directly.
    pub fn ticket(&self) -> Option<TaskTicket> {
        let State::Task(observed) = &self.state else {
            return None;
        };
        let (client, id) = (self.reader.client(), &observed.task.id);
        let age = observed.age + observed.since.elapsed();
        Some(TaskTicket::new(client, self.reader.name(), id, age))
    }

    /// Drops the handle without an effect on the task, and returns the ticket to resume it later.
    pub fn detach(self) -> Option<TaskTicket> {
        self.ticket()
    }

    /// Requests the state of the task. Its questions stay open. `None` if the server has answered the call directly.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the code -32602 if the server does not know the task, or does not any more. Another error
    /// does not mean the end of the task.
    pub fn status(
        &self,
    ) -> impl Future<Output = Result<Option<TaskUpdate>, ClientError>> + Send + use<T> {
        // The future does not borrow the handle, which cannot be shared between threads.
        let task = self.task().cloned();
        async move {
            match task {
                Some(task) => Ok(Some(task.get().await?.update)),
                None => Ok(None),
            }
        }
    }

    /// Returns the latest state that the observation has received.
    pub fn latest(&self) -> Option<TaskUpdate> {
        self.publisher.latest()
    }

    /// Returns the states of the task as a stream, which ends with the observation, and starts the observation.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn updates(&mut self) -> TaskUpdates {
        if let State::Task(observed) = &mut self.state {
            observed.observation.start(&self.publisher);
        }
        self.publisher.subscribe()
    }

    /// Waits for the end of the task and returns the output, as the call would have returned it.
    ///
    /// # Errors
    ///
    /// Those of the call. In addition, [`ClientError::Cancelled`] if the task was cancelled, [`ClientError::Timeout`] if it
    /// had no outcome within its TTL or
    /// [`TaskWaitLimits::max_wait`](treenail_runtime::client::TaskWaitLimits::max_wait), [`ClientError::Refused`] with the
    /// code -32602 if the server does not know it any more, [`ClientError::Unanswered`] if the client cannot answer a
    /// question of it, [`ClientError::Invalid`] if the output was returned before.
    ///
    /// # Cancellation
    ///
    /// Cancel safe: the next call continues to wait.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn wait(&mut self) -> Result<T, ClientError> {
        let observed = match &mut self.state {
            State::Finished(output) => {
                return output
                    .take()
                    .ok_or_else(|| ClientError::invalid("the output was returned before"));
            }
            State::Task(observed) => observed,
        };
        let text = observed.observation.wait(&self.publisher).await?;
        self.reader.read(text).await
    }

    /// Cancels the task. This is a wish: the task may still end in another way, which [`wait`](Self::wait) reports. Succeeds
    /// for a task that has already ended.
    ///
    /// # Errors
    ///
    /// If the server could not be reached, or does not know the task.
    pub fn cancel(&self) -> impl Future<Output = Result<(), ClientError>> + Send + use<T> {
        let task = self.task().cloned();
        async move {
            match task {
                Some(task) => task.cancel().await,
                None => Ok(()),
            }
        }
    }

    fn task(&self) -> Option<&RemoteTask> {
        match &self.state {
            State::Finished(_) => None,
            State::Task(observed) => Some(&observed.task),
        }
    }
}

/// Returns a callback that publishes states, and reports status messages to the caller of the call.
fn publish_to(publisher: &Arc<Publisher>, created: Option<CreatedTask>) -> Publish {
    let publisher = Arc::clone(publisher);
    let mut report = report_to(created.and_then(|created| created.on_status));
    Box::new(move |update| {
        report(update);
        publisher.publish(update);
    })
}

impl<T> fmt::Debug for TaskHandle<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TaskHandle")
            .field("tool", &self.tool())
            .field("latest", &self.publisher.latest())
            .finish_non_exhaustive()
    }
}
