//! Observation of a task in the background.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;
use treenail_runtime::client::ClientError;

use crate::client::observer::{Observer, Outcome};
use crate::client::remote::RemoteTask;
use crate::client::updates::Publisher;

/// Task with its observation.
pub(super) struct Observed {
    pub(super) task: RemoteTask,
    /// Age of the task at `since`.
    pub(super) age: Duration,
    pub(super) since: Instant,
    pub(super) observation: Observation,
}

/// Observation of a task by its handle.
pub(super) enum Observation {
    /// The observer has not been started.
    Idle(Box<Option<Observer>>),
    Running(Running),
    Ended(Outcome),
}

/// Observation in the background, which ends with the handle.
pub(super) struct Running(JoinHandle<Outcome>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Observation {
    /// Starts the observer in the background.
    pub(super) fn start(&mut self, publisher: &Arc<Publisher>) {
        let Self::Idle(observer) = self else {
            return;
        };
        let Some(observer) = observer.take() else {
            return;
        };
        let closing = Closing(Arc::clone(publisher));
        let running = tokio::spawn(async move {
            let _closing = closing;
            observer.run().await
        });
        *self = Self::Running(Running(running));
    }

    /// Waits for the end of the task, and returns the JSON text of its result.
    pub(super) async fn wait(&mut self, publisher: &Arc<Publisher>) -> Result<String, ClientError> {
        self.start(publisher);
        if let Self::Running(running) = self {
            let outcome = (&mut running.0).await;
            let outcome = outcome.unwrap_or_else(|_| {
                Outcome::given_up(ClientError::closed("the async runtime has shut down"))
            });
            *self = Self::Ended(outcome);
        }
        match self {
            Self::Ended(outcome) => outcome.result.clone(),
            _ => Err(ClientError::invalid("the task is not observed")),
        }
    }
}

/// Guard that ends the streams of states with the observation.
struct Closing(Arc<Publisher>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}
