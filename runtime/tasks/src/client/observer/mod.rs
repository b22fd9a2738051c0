//! Observation of one task until its end.

mod steps;

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};
use treenail_runtime::client::{ClientError, TransportKind};
use treenail_runtime::internal::TaskSession as _;
use treenail_schema::TaskStatus;

use self::steps::Step;
use crate::client::driver::permits;
use crate::client::payload::Payload;
use crate::client::poll::Schedule;
use crate::client::push::Push;
use crate::client::questions::Questions;
use crate::client::remote::{Owned, RemoteTask, is_invalid_params};
use crate::client::snapshot::{Snapshot, TaskUpdate};

/// Maximum number of rounds in one poll of an observation. A server may push states without a pause, each of which takes some time
/// to read, and timeouts around the observation must not wait for all of them.
const MAX_ROUNDS: usize = 16;

/// Observation of one task: polls, subscribes to pushes, and answers questions, until the task ends.
pub(super) struct Observer {
    task: RemoteTask,
    publish: Publish,
    schedule: Schedule,
    questions: Questions,
    /// Opened with the observation: a handle that is not used holds no permit.
    push: Push,
    timer: Pin<Box<Sleep>>,
    polling: Option<Owned<Result<Snapshot, ClientError>>>,
    /// True if the current poll, or the last one, started after the subscription.
    covers_push: bool,
    payload: Payload,
    payload_failed: bool,
    /// The last state, of which only a change is published.
    published: Option<TaskUpdate>,
}

/// Callback for each change of the task.
pub(super) type Publish = Box<dyn FnMut(&TaskUpdate) + Send>;

/// Outcome of an observation.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// The JSON text of the call's result.
    pub(super) result: Result<String, ClientError>,
    /// True if the task itself has ended, or is unknown.
    pub(super) has_ended: bool,
}

impl Outcome {
    fn ended(result: Result<String, ClientError>) -> Self {
        Self {
            result,
            has_ended: true,
        }
    }

    /// Creates the outcome of an observation that ends before its task.
    pub(super) fn given_up(error: ClientError) -> Self {
        Self {
            result: Err(error.after_start()),
            has_ended: false,
        }
    }
}

impl Observer {
    /// Creates an observation that polls the task at its start. The task has existed for `age`.
    pub(super) fn new(task: RemoteTask, publish: Publish, age: Duration) -> Self {
        let schedule = Schedule::new(task.session.client_limits().tasks.clone(), age);
        Self {
            publish,
            schedule,
            questions: Questions::new(task.clone()),
            push: Push::Off,
            timer: Box::pin(sleep_until(Instant::now())),
            polling: Some(task.get()),
            covers_push: false,
            payload: Payload::new(&task),
            payload_failed: false,
            published: None,
            task,
        }
    }

    /// Creates an observation of a task in the state of its creation.
    pub(super) fn created(task: RemoteTask, first: &Snapshot, publish: Publish) -> Self {
        let mut observer = Self::new(task, publish, Duration::ZERO);
        observer.note_update(&first.update);
        // A result that creates a task has no outcome.
        if !first.update.is_final() {
            observer.polling = None;
        }
        observer
    }

    /// Observes the task until its end.
    pub(super) async fn run(mut self) -> Outcome {
        self.schedule.start();
        let permits = permits(&self.task.session).filter(|_| self.task.is_modern());
        self.push = Push::open(&self.task, permits);
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        for _ in 0..MAX_ROUNDS {
            let steps = [
                Self::poll_push,
                Self::poll_payload,
                Self::poll_state,
                Self::poll_timer,
                Self::poll_questions,
            ];
            let mut is_idle = true;
            for step in steps {
                match step(self, context) {
                    Step::Idle => {}
                    Step::Changed => is_idle = false,
                    Step::Ended(outcome) => return Poll::Ready(outcome),
                }
            }
            if is_idle {
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Notes a failed poll, which is not the end of the task.
    fn note_failure(&mut self, error: ClientError) -> Step {
        if is_invalid_params(&error) {
            let error = self.payload.error().unwrap_or(error);
            return Step::Ended(Outcome::ended(Err(error)));
        }
        tracing::debug!(%error, "a poll of a task failed");
        self.payload.note_failed_poll();
        let is_reachable = self.schedule.note_failure();
        if self.is_lost(&error) || !is_reachable {
            return Step::Ended(Outcome::given_up(error));
        }
        if Instant::now() >= self.schedule.end() {
            let waited = self.schedule.longest();
            return Step::Ended(Outcome::given_up(ClientError::Timeout(waited)));
        }
        Step::Changed
    }

    /// Returns true if an error ends the connection, or needs the user.
    fn is_lost(&self, error: &ClientError) -> bool {
        match error {
            ClientError::Closed(_) => {
                let session = &self.task.session;
                session.is_closed() || session.session().transport() != TransportKind::Http
            }
            ClientError::Unauthorized(_) | ClientError::Authorization(_) => true,
            _ => false,
        }
    }

    fn note_update(&mut self, update: &TaskUpdate) {
        self.schedule.note_update(update);
        if self.published.as_ref() != Some(update) {
            (self.publish)(update);
            self.published = Some(update.clone());
        }
    }

    /// Notes a state of the task.
    fn note(&mut self, snapshot: Snapshot) -> Step {
        self.note_update(&snapshot.update);
        let ended = |result| Step::Ended(Outcome::ended(result));
        if snapshot.update.status == TaskStatus::Cancelled {
            let message = snapshot.update.message.unwrap_or_default();
            return ended(Err(ClientError::Cancelled(message.into())));
        }
        if !self.task.is_modern() {
            let error = self.payload.note_state(&self.task, &snapshot.update);
            return error.map_or(Step::Changed, |error| ended(Err(error)));
        }
        match (snapshot.update.status, snapshot.result, snapshot.error) {
            (TaskStatus::Completed, Some(result), _) => ended(Ok(result.get().to_owned())),
            (TaskStatus::Completed, None, _) => {
                ended(Err(ClientError::protocol("a completed task has no result")))
            }
            (TaskStatus::Failed, _, Some(error)) => ended(Err(ClientError::Refused(error))),
            (TaskStatus::Failed, _, None) => {
                ended(Err(ClientError::protocol("a failed task has no error")))
            }
            _ => match self.questions.note_open(snapshot.questions.as_deref()) {
                Ok(()) => Step::Changed,
                Err(error) => Step::Ended(Outcome::given_up(error)),
            },
        }
    }
}
