//! State that the requests of a session share with the driver task.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;

use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};

use crate::client::line::message;
use crate::client::line::output::Output;
use crate::client::line::pending::{Answer, PendingReply, PendingRequests, pass_late};
use crate::client::session::LateAnswers;
use crate::client::stray::StrayLines;
use crate::client::{
    ClientError, ClientLimits, IncomingHandler, Responder, SessionNotification, SessionRequest,
};

/// Maximum number of cancelled requests whose results matter nevertheless. The oldest one is forgotten.
const CANCELLED: usize = 256;

pub(super) struct Inner {
    state: Mutex<State>,
    incoming: OnceLock<Arc<dyn IncomingHandler>>,
    /// One permit for each request in flight.
    permits: Semaphore,
    /// Notified when output has been written.
    output_space: Notify,
    ended: watch::Sender<bool>,
    /// Stray lines of the server.
    pub(super) stray: StrayLines,
    pub(super) limits: ClientLimits,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) output: Output,
    pub(super) pending: PendingRequests,
    /// Cancelled requests whose results matter nevertheless, oldest first.
    cancelled: VecDeque<(i64, Weak<dyn LateAnswers>)>,
    driver_waker: Option<Waker>,
    closing: bool,
    closed: Option<ClientError>,
}

impl State {
    pub(super) fn wake_driver(&mut self) {
        if let Some(waker) = self.driver_waker.take() {
            waker.wake();
        }
    }

    /// Notes a cancelled request.
    pub(super) fn note_cancelled(&mut self, id: i64, late: Weak<dyn LateAnswers>) {
        if self.cancelled.len() == CANCELLED {
            self.cancelled.pop_front();
        }
        self.cancelled.push_back((id, late));
    }

    /// Takes the receiver of the result of a cancelled request.
    fn take_cancelled(&mut self, id: i64) -> Option<Weak<dyn LateAnswers>> {
        let at = self.cancelled.iter().position(|(known, _)| *known == id)?;
        self.cancelled.remove(at).map(|(_, late)| late)
    }

    fn check_open(&self) -> Result<(), ClientError> {
        match &self.closed {
            Some(reason) => Err(reason.clone()),
            None if self.closing => Err(ClientError::closed("it is being closed")),
            None => Ok(()),
        }
    }
}

impl Inner {
    pub(super) fn new(limits: ClientLimits, stray: StrayLines) -> Self {
        Self {
            state: Mutex::default(),
            incoming: OnceLock::new(),
            permits: Semaphore::new(limits.requests_in_flight.clamp(1, Semaphore::MAX_PERMITS)),
            output_space: Notify::new(),
            ended: watch::Sender::new(false),
            stray,
            limits,
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_handler(&self, incoming: Arc<dyn IncomingHandler>) {
        if self.incoming.set(incoming).is_err() {
            tracing::warn!("a session has one handler; a second one was ignored");
        }
    }

    pub(super) fn incoming(&self) -> Option<&Arc<dyn IncomingHandler>> {
        self.incoming.get()
    }

    /// Waits for a permit for one request in flight.
    pub(super) async fn acquire_permit(&self) -> Result<SemaphorePermit<'_>, ClientError> {
        // Nearly always there is one, and it needs no place in the queue.
        if let Ok(permit) = self.permits.try_acquire() {
            return Ok(permit);
        }
        self.permits.acquire().await.map_err(|_| self.close_error())
    }

    /// Waits while the output queue is full.
    pub(super) async fn wait_for_output_space(&self) {
        while !self.has_output_space() {
            let space = self.output_space.notified();
            if self.has_output_space() {
                return;
            }
            space.await;
        }
    }

    /// Returns true if a line may be queued, or if the session is closed and the sender is to find that out.
    fn has_output_space(&self) -> bool {
        let state = self.state();
        state.output.bytes() <= self.limits.queued_output_bytes || state.closed.is_some()
    }

    pub(super) fn send_request(
        &self,
        request: &SessionRequest,
    ) -> Result<PendingReply<'_>, ClientError> {
        let mut state = self.state();
        state.check_open()?;
        state.pending.insert(request.id, request.late.clone())?;
        message::push_request(
            &mut state.output.lines,
            request.id,
            &request.method,
            &request.params,
        );
        state.wake_driver();
        drop(state);
        Ok(PendingReply::new(self, request))
    }

    pub(super) fn send_notification(
        &self,
        notification: &SessionNotification,
    ) -> Result<(), ClientError> {
        let mut state = self.state();
        state.check_open()?;
        message::push_notification(
            &mut state.output.lines,
            &notification.method,
            &notification.params,
        );
        state.wake_driver();
        Ok(())
    }

    /// Returns a responder for a request of the server, whose id is the JSON text `id`.
    pub(super) fn responder(self: &Arc<Self>, id: &str) -> Responder {
        let (inner, id) = (Arc::downgrade(self), id.to_owned());
        Responder::new(move |answer| {
            let Some(inner) = Weak::upgrade(&inner) else {
                return;
            };
            let mut state = inner.state();
            if state.closed.is_none() {
                state.output.push_answer(&id, answer);
                state.wake_driver();
            }
        })
    }

    /// Passes an answer to its request, if that still waits.
    pub(super) fn complete(&self, id: i64, answer: Answer) {
        let mut state = self.state();
        let (unread, late) = match state.pending.answer(id, answer) {
            Ok(waker) => {
                drop(state);
                if let Some(waker) = waker {
                    waker.wake();
                }
                return;
            }
            Err(unread) => (unread, state.take_cancelled(id)),
        };
        drop(state);
        if !pass_late(late, unread) {
            tracing::debug!(
                id,
                "dropped an answer of the server that no request waits for"
            );
        }
    }

    /// Stores the waker of the driver, and returns the closing state.
    pub(super) fn register_driver(&self, waker: &Waker) -> Closing {
        let mut state = self.state();
        if !state
            .driver_waker
            .as_ref()
            .is_some_and(|current| current.will_wake(waker))
        {
            state.driver_waker = Some(waker.clone());
        }
        Closing(state.closing)
    }

    /// Replaces the buffer of written lines with the lines to write next.
    pub(super) fn take_output(&self, written: &mut Vec<u8>) -> Closing {
        let mut state = self.state();
        let was_writing = state.output.take(written);
        let closing = Closing(state.closing);
        drop(state);
        if was_writing {
            self.output_space.notify_waiters();
        }
        closing
    }

    /// Returns true if so many answers to the server are queued that it must not cause more. As many as it may have pending
    /// requests are always allowed, whatever their size.
    pub(super) fn has_too_many_answers(&self) -> bool {
        let answers = self.state().output.answers();
        answers.count > self.limits.pending_server_requests
            && answers.bytes > self.limits.queued_output_bytes
    }

    pub(super) fn start_closing(&self) {
        let mut state = self.state();
        state.closing = true;
        state.wake_driver();
    }

    /// Closes the session and fails all pending requests.
    pub(super) fn close(&self, reason: &ClientError) {
        let wakers = {
            let mut state = self.state();
            if state.closed.is_some() {
                return;
            }
            state.closed = Some(reason.clone());
            state.output.lines = Vec::new();
            state.pending.fail(reason)
        };
        for waker in wakers {
            waker.wake();
        }
        self.permits.close();
        self.output_space.notify_waiters();
        if let Some(incoming) = self.incoming() {
            incoming.closed();
        }
        self.ended.send_replace(true);
    }

    pub(super) async fn wait_until_closed(&self) {
        let mut ended = self.ended.subscribe();
        // This cannot fail: the sender outlives the borrow.
        drop(ended.wait_for(|ended| *ended).await);
    }

    /// Returns the error of requests on the closed session.
    pub(super) fn close_error(&self) -> ClientError {
        let state = self.state();
        state
            .closed
            .clone()
            .unwrap_or_else(|| ClientError::closed("the request was dropped"))
    }
}

/// True if the session is to close after all output has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closing(pub(super) bool);
