//! What the requests of a session share with the task that writes and reads.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;

use tokio::sync::{Notify, Semaphore, SemaphorePermit, oneshot, watch};

use crate::client::line::message;
use crate::client::stray::StrayLines;
use crate::client::{
    ClientError, ClientLimits, IncomingHandler, Responder, SessionNotification, SessionRequest,
};

type Answer = Result<String, ClientError>;

pub(super) struct Shared {
    state: Mutex<State>,
    incoming: OnceLock<Arc<dyn IncomingHandler>>,
    /// One for each request that may be in flight.
    permits: Semaphore,
    /// Told when the server has taken messages.
    room: Notify,
    ended: watch::Sender<bool>,
    /// The lines of the server that are no messages.
    pub(super) stray: StrayLines,
    pub(super) limits: ClientLimits,
}

#[derive(Default)]
struct State {
    /// Lines that the driver has not taken over yet.
    output: Vec<u8>,
    /// Bytes that the driver has taken over and not written yet.
    being_written: usize,
    /// The requests that wait for their answers.
    waiting: HashMap<i64, oneshot::Sender<Answer>, BuildHasherDefault<IdHasher>>,
    driver: Option<Waker>,
    closing: bool,
    closed: Option<ClientError>,
}

/// Spreads ids, which are chosen on this side, so that no server can make them collide.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The golden ratio, as a fraction of 64 bits.
        self.0 = (self.0 ^ number)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(26);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(u64::from_ne_bytes(number.to_ne_bytes()));
    }
}

impl State {
    fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    fn queued(&self) -> usize {
        self.output.len() + self.being_written
    }

    fn check_open(&self) -> Result<(), ClientError> {
        match &self.closed {
            Some(reason) => Err(reason.clone()),
            None if self.closing => Err(ClientError::closed("it is being closed")),
            None => Ok(()),
        }
    }
}

impl Shared {
    pub(super) fn new(limits: ClientLimits, stray: StrayLines) -> Self {
        Self {
            state: Mutex::default(),
            incoming: OnceLock::new(),
            permits: Semaphore::new(limits.requests_in_flight.clamp(1, Semaphore::MAX_PERMITS)),
            room: Notify::new(),
            ended: watch::Sender::new(false),
            stray,
            limits,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        if self.incoming.set(incoming).is_err() {
            tracing::warn!("a session has one listener; a second one was ignored");
        }
    }

    pub(super) fn incoming(&self) -> Option<&Arc<dyn IncomingHandler>> {
        self.incoming.get()
    }

    /// Waits for its turn to have a request in flight.
    pub(super) async fn permit(&self) -> Result<SemaphorePermit<'_>, ClientError> {
        self.permits.acquire().await.map_err(|_| self.reason())
    }

    /// Waits until the server has taken what was sent before, or most of it.
    pub(super) async fn room(&self) {
        loop {
            let room = self.room.notified();
            {
                let state = self.state();
                if state.queued() <= self.limits.queued_output_bytes || state.closed.is_some() {
                    return;
                }
            }
            room.await;
        }
    }

    pub(super) fn send_request(
        &self,
        request: &SessionRequest,
    ) -> Result<oneshot::Receiver<Answer>, ClientError> {
        let mut state = self.state();
        state.check_open()?;
        let (sender, receiver) = oneshot::channel();
        state.waiting.insert(request.id, sender);
        message::push_request(
            &mut state.output,
            request.id,
            &request.method,
            &request.params,
        );
        state.wake_driver();
        Ok(receiver)
    }

    pub(super) fn send_notification(
        &self,
        notification: &SessionNotification,
    ) -> Result<(), ClientError> {
        let mut state = self.state();
        state.check_open()?;
        message::push_notification(
            &mut state.output,
            &notification.method,
            &notification.params,
        );
        state.wake_driver();
        Ok(())
    }

    /// Where the answer to a request of the server goes; `id` is the text of its id.
    pub(super) fn responder(self: &Arc<Self>, id: &str) -> Responder {
        let (shared, id) = (Arc::downgrade(self), id.to_owned());
        Responder::new(move |answer| {
            let Some(shared) = Weak::upgrade(&shared) else {
                return;
            };
            let mut state = shared.state();
            if state.closed.is_none() {
                message::push_answer(&mut state.output, &id, answer);
                state.wake_driver();
            }
        })
    }

    /// Gives an answer to the request that waits for it, if there is one.
    pub(super) fn answer(&self, id: i64, answer: Answer) {
        let waiting = self.state().waiting.remove(&id);
        if let Some(waiting) = waiting {
            // One that has just been dropped needs no answer.
            drop(waiting.send(answer));
        } else {
            tracing::debug!(id, "an answer to no request was dropped");
        }
    }

    /// Remembers whom to wake when there is something to do; says whether the session is to end.
    pub(super) fn register(&self, waker: &Waker) -> Closing {
        let mut state = self.state();
        if !state
            .driver
            .as_ref()
            .is_some_and(|driver| driver.will_wake(waker))
        {
            state.driver = Some(waker.clone());
        }
        Closing(state.closing)
    }

    /// Takes over the lines that are to be written, in place of what has been written.
    pub(super) fn take_output(&self, written: &mut Vec<u8>) -> Closing {
        let mut state = self.state();
        written.clear();
        std::mem::swap(written, &mut state.output);
        let was_writing = state.being_written > 0;
        state.being_written = written.len();
        let closing = Closing(state.closing);
        drop(state);
        if was_writing {
            self.room.notify_waiters();
        }
        closing
    }

    /// Whether so much waits to be written that the server must not make more work.
    pub(super) fn is_full(&self) -> bool {
        self.state().queued() > self.limits.queued_output_bytes
    }

    pub(super) fn begin_closing(&self) {
        let mut state = self.state();
        state.closing = true;
        state.wake_driver();
    }

    /// Ends the session, and with it all requests that wait.
    pub(super) fn end(&self, reason: &ClientError) {
        let waiting = {
            let mut state = self.state();
            if state.closed.is_some() {
                return;
            }
            state.closed = Some(reason.clone());
            state.output = Vec::new();
            std::mem::take(&mut state.waiting)
        };
        for (_, waiting) in waiting {
            drop(waiting.send(Err(reason.clone())));
        }
        self.permits.close();
        self.room.notify_waiters();
        if let Some(incoming) = self.incoming() {
            incoming.closed();
        }
        self.ended.send_replace(true);
    }

    pub(super) async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        // The sender lives as long as this borrow.
        drop(ended.wait_for(|ended| *ended).await);
    }

    /// Why the session has ended.
    pub(super) fn reason(&self) -> ClientError {
        let state = self.state();
        state
            .closed
            .clone()
            .unwrap_or_else(|| ClientError::closed("it was given up"))
    }
}

/// Whether the session is to end when all has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closing(pub(super) bool);

/// A request in flight; dropping it cancels the request.
pub(super) struct Waiting<'a> {
    shared: &'a Shared,
    id: Option<i64>,
    cancellable: bool,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(shared: &'a Shared, request: &SessionRequest) -> Self {
        Self {
            shared,
            id: Some(request.id),
            cancellable: request.cancellable,
        }
    }

    /// The request has been answered.
    pub(super) fn end(&mut self) {
        self.id = None;
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut state = self.shared.state();
        if state.waiting.remove(&id).is_some() && self.cancellable {
            message::push_cancellation(&mut state.output, id);
            state.wake_driver();
        }
    }
}
