//! Steps of an observation: pushes, the result, the state, the timer and questions.

use std::task::{Context, Poll};

use tokio::time::Instant;
use treenail_runtime::client::{ClientError, ServerNotification};
use treenail_runtime::internal::deadline::poll_timer;
use treenail_runtime::internal::{TaskSession as _, check_decoded_size};

use super::{Observer, Outcome};
use crate::client::push::{Push, PushEvent};
use crate::client::snapshot::Snapshot;

/// Progress of one step of an observation.
pub(super) enum Step {
    Idle,
    Changed,
    Ended(Outcome),
}

impl Observer {
    pub(super) fn poll_push(&mut self, context: &mut Context<'_>) -> Step {
        match self.push.poll(context) {
            Poll::Pending => Step::Idle,
            Poll::Ready(PushEvent::Changed) => {
                self.schedule.set_pushed(false);
                Step::Changed
            }
            Poll::Ready(PushEvent::Notification(notification)) => {
                match self.read_push(&notification) {
                    Some(Ok(snapshot)) => self.note(snapshot),
                    Some(Err(error)) => {
                        tracing::debug!(%error, "dropped a malformed state of a task");
                        Step::Changed
                    }
                    None => Step::Changed,
                }
            }
        }
    }

    fn read_push(
        &self,
        notification: &ServerNotification,
    ) -> Option<Result<Snapshot, ClientError>> {
        if notification.method != "notifications/tasks" {
            return None;
        }
        let limits = self.task.session.client_limits();
        let snapshot = check_decoded_size(&notification.params, limits)
            .and_then(|()| Snapshot::read(&notification.params))
            .and_then(|snapshot| self.task.check_id(&snapshot).map(|()| snapshot));
        Some(snapshot)
    }

    pub(super) fn poll_payload(&mut self, context: &mut Context<'_>) -> Step {
        match self.payload.poll(context) {
            Poll::Pending => Step::Idle,
            Poll::Ready(Some(Ok(text))) => Step::Ended(Outcome::ended(Ok(text))),
            Poll::Ready(Some(Err(error))) if self.is_lost(&error) => {
                Step::Ended(Outcome::given_up(error))
            }
            Poll::Ready(_) => {
                // The state decides between the error of the task and one of this request, unless it is of a poll that the server
                // may have answered before. A server that refuses the request again and again is asked as rarely as otherwise,
                // until its task has ended.
                let is_first = !std::mem::replace(&mut self.payload_failed, true);
                let at_once = is_first || self.payload.is_refused_after_end();
                self.polling = at_once.then(|| self.task.get());
                Step::Changed
            }
        }
    }

    pub(super) fn poll_state(&mut self, context: &mut Context<'_>) -> Step {
        let Some(polling) = &mut self.polling else {
            return Step::Idle;
        };
        let Poll::Ready(polled) = polling.as_mut().poll(context) else {
            return Step::Idle;
        };
        self.polling = None;
        self.push.reopen(&self.task);
        let snapshot = match polled {
            Ok(snapshot) => snapshot,
            Err(error) => return self.note_failure(error),
        };
        if self.covers_push {
            self.schedule.set_pushed(true);
        }
        match self.note(snapshot) {
            Step::Changed if Instant::now() >= self.schedule.end() => {
                let waited = self.schedule.longest();
                Step::Ended(Outcome::given_up(ClientError::Timeout(waited)))
            }
            step => step,
        }
    }

    /// Starts a poll when it is due.
    pub(super) fn poll_timer(&mut self, context: &mut Context<'_>) -> Step {
        if self.polling.is_some() {
            return Step::Idle;
        }
        let next = self.schedule.next_poll();
        if self.timer.deadline() != next {
            self.timer.as_mut().reset(next);
        }
        if poll_timer(self.timer.as_mut(), context).is_pending() {
            return Step::Idle;
        }
        self.covers_push = matches!(self.push, Push::Open(..));
        self.polling = Some(self.task.get());
        Step::Changed
    }

    pub(super) fn poll_questions(&mut self, context: &mut Context<'_>) -> Step {
        let was_paused = self.questions.is_paused();
        match self.questions.poll(context) {
            Poll::Pending if self.questions.is_paused() && !was_paused => {
                // The answers are sent again after the next poll, for which pushes are no substitute.
                self.schedule.set_pushed(false);
                Step::Changed
            }
            Poll::Pending => Step::Idle,
            Poll::Ready(error) => Step::Ended(Outcome::given_up(error)),
        }
    }
}
