//! The part of a call that its contexts and tasks share, and its end.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use tokio::sync::Notify;
use treenail_schema::{Notification, Number, ProgressToken};

use crate::ask::{Questions, Round};
use crate::call::Call;
#[cfg(feature = "tower")]
use crate::context::Context;
use crate::outbox::{Outbox, notification};
use crate::request_id::LazyId;
use crate::revision::Peer;
use crate::server::Server;
use crate::task::{Journal, TaskLink};
use crate::wire::{Members, RpcError};

/// Ends a call when it is dropped: nothing more is sent for the call, and the tasks that wait for its end are woken.
#[derive(Debug)]
pub struct Lifetime {
    state: Option<Arc<CallState>>,
    /// Set unless the call continues in the layers around its function.
    ends_call: bool,
}

impl Lifetime {
    /// Returns the guard for the function of a call, which has a state only if something needs it.
    pub(crate) fn of(state: Option<&Arc<CallState>>) -> Self {
        Self {
            state: state.cloned(),
            ends_call: state.is_some_and(|state| !state.has_layers),
        }
    }

    /// Returns the questions that a pending function has asked its caller, as the result of this round. Without questions,
    /// `waker` is woken by the first one.
    pub(crate) fn take_questions(&self, waker: &Waker) -> Option<Result<Questions, RpcError>> {
        let state = self.state.as_ref().filter(|state| !state.is_task())?;
        state.round()?.take_questions(waker)
    }

    /// Ends the call. If its function has failed, the error that is returned here replaces the failure.
    pub(crate) fn end(mut self) -> Option<RpcError> {
        let state = self.state.take()?;
        if self.ends_call {
            state.finish()
        } else {
            state.live().fault.take()
        }
    }
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        if let Some(state) = self.state.as_ref().filter(|_| self.ends_call) {
            state.finish();
        }
    }
}

/// State that all contexts of one call share.
#[derive(Debug)]
pub(crate) struct CallState {
    pub(crate) peer: Arc<Peer>,
    pub(crate) server: Server,
    pub(crate) id: LazyId,
    pub(crate) meta: Option<Box<str>>,
    /// Parsed from `meta` when it is first needed, because most functions report no progress.
    progress_token: OnceLock<Option<ProgressToken>>,
    round: Option<Arc<Round>>,
    /// The record of the task that the call has become. Set under the lock of `live`.
    task: OnceLock<Arc<dyn TaskLink>>,
    /// Set if the call continues after its function, in the layers around it.
    has_layers: bool,
    outbox: Outbox,
    live: Mutex<Live>,
    /// Notified at the end of the call, and when it becomes a task.
    finished: Notify,
}

#[derive(Debug, Default)]
struct Live {
    finished: bool,
    /// Set if a task waits for the end.
    awaited: bool,
    /// The last progress that was sent.
    progress: Option<f64>,
    /// The response to the request if its function fails.
    fault: Option<RpcError>,
}

impl CallState {
    pub(crate) fn new(call: &Call<'_>) -> Self {
        Self {
            peer: Arc::clone(call.peer),
            server: call.server.clone(),
            id: LazyId::new(call.id),
            meta: call.meta.map(Into::into),
            progress_token: OnceLock::new(),
            round: call.round(),
            task: OnceLock::new(),
            has_layers: false,
            outbox: call.outbox.clone(),
            live: Mutex::default(),
            finished: Notify::new(),
        }
    }

    /// Creates the state of a call that may become a task. It shares the questions and answers with the layers around it.
    pub(crate) fn detachable(call: &Call<'_>) -> Self {
        let mut state = Self::new(call);
        let outer = call
            .context
            .and_then(|context| context.state().round.clone());
        let round = outer.or(state.round.take());
        state.round = Some(round.unwrap_or_else(|| call.new_round()));
        state
    }

    /// Returns the token that a caller sends if it requests progress.
    pub(crate) fn progress_token(&self) -> Option<&ProgressToken> {
        let parse = || self.meta.as_deref().and_then(progress_token);
        self.progress_token.get_or_init(parse).as_ref()
    }

    /// Sends a notification, unless the call has ended. Waits for room in the queue.
    pub(crate) async fn notify<N: Notification>(&self, params: &N::Params) {
        self.send::<N>(params, |_| true).await;
    }

    /// Sends a notification of `progress`, unless as much has been sent already.
    pub(crate) async fn notify_progress<N: Notification>(&self, progress: f64, params: &N::Params) {
        self.send::<N>(params, |live| {
            let more = live.progress.is_none_or(|last| progress > last);
            if more {
                live.progress = Some(progress);
            }
            more
        })
        .await;
    }

    /// Sends the message for one more item. Its progress is `count`, or the last progress plus 1 if that is not less.
    pub(crate) async fn notify_item(
        &self,
        count: Number,
        message: impl FnOnce(&Number) -> Vec<u8>,
    ) {
        if let Some(link) = self.link() {
            return link.progress(&count, None, None);
        }
        let Some(permit) = self.outbox.reserve().await else {
            return;
        };
        let mut live = self.live();
        let progress = match live.progress {
            Some(last) if count.as_f64() <= last => Number::from(last + 1.0),
            _ => count,
        };
        if !live.finished && !self.is_task() {
            live.progress = Some(progress.as_f64());
            permit.send(message(&progress));
        }
    }

    /// Checks and sends under one lock, so that no message is out of order, or after the end. Nothing is sent for a task.
    async fn send<N: Notification>(
        &self,
        params: &N::Params,
        check: impl FnOnce(&mut Live) -> bool,
    ) {
        if self.is_task() {
            return;
        }
        let Some(permit) = self.outbox.reserve().await else {
            return;
        };
        let mut live = self.live();
        if !live.finished && !self.is_task() && check(&mut live) {
            permit.send(notification::<N>(params));
        }
    }

    /// Sends a message, unless the call has ended. Returns `true` if it was sent.
    pub(crate) async fn send_message(&self, message: Vec<u8>) -> bool {
        let Some(permit) = self.outbox.reserve().await else {
            return false;
        };
        let live = self.live();
        let open = !live.finished && !self.is_task();
        if open {
            permit.send(message);
        }
        open
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Returns the state of questions to a caller of the modern era, or of a call that may become a task.
    pub(crate) fn round(&self) -> Option<&Round> {
        self.round.as_deref()
    }

    /// Returns the record of the task that the call has become.
    pub(crate) fn link(&self) -> Option<&Arc<dyn TaskLink>> {
        self.task.get()
    }

    pub(crate) fn is_task(&self) -> bool {
        self.task.get().is_some()
    }

    /// Makes the call a task, and returns the values that it has obtained so far.
    #[inline]
    pub(crate) fn detach(&self, link: Arc<dyn TaskLink>) -> Journal {
        let live = self.live();
        // A second link is dropped.
        let _ = self.task.set(link);
        let journal = self.round().map(Round::journal).unwrap_or_default();
        drop(live);
        self.finished.notify_waiters();
        journal
    }

    /// Records something in the round of the call. A call that has become a task has its record instead, which is the error.
    pub(crate) fn record(&self, record: impl FnOnce(&Round)) -> Result<(), &Arc<dyn TaskLink>> {
        // A call becomes a task under this lock.
        let _live = self.live();
        if let Some(link) = self.link() {
            return Err(link);
        }
        if let Some(round) = self.round() {
            record(round);
        }
        Ok(())
    }

    /// Sets the error that the request is answered with if its function fails.
    pub(crate) fn set_fault(&self, fault: Option<RpcError>) {
        self.live().fault = fault;
    }

    /// Starts a call that continues after its function, in the layers around it, until the [`Lifetime`] is dropped.
    #[cfg(feature = "tower")]
    pub(crate) fn with_layers(call: &Call<'_>) -> (Context, Lifetime) {
        let mut state = Self::new(call);
        state.has_layers = true;
        let context = Context::new(state, call.extensions.clone());
        let lifetime = Lifetime {
            state: Some(Arc::clone(context.state())),
            ends_call: true,
        };
        (context, lifetime)
    }

    fn finish(&self) -> Option<RpcError> {
        let mut live = self.live();
        live.finished = true;
        let (fault, awaited) = (live.fault.take(), live.awaited);
        drop(live);
        if awaited {
            self.finished.notify_waiters();
        }
        fault
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.live().finished
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the call.
    pub(crate) async fn finished(&self) {
        loop {
            let changed = self.finished.notified();
            if self.note_wait() {
                return;
            }
            changed.await;
        }
    }

    /// Waits until the call has ended, or has become a task.
    pub(crate) async fn finished_or_task(&self) {
        let changed = self.finished.notified();
        if !self.note_wait() && !self.is_task() {
            changed.await;
        }
    }

    /// Makes the end of the call wake its waiters. Returns `true` if the call has ended already.
    fn note_wait(&self) -> bool {
        let mut live = self.live();
        live.awaited = true;
        live.finished
    }
}

/// Returns the token for the progress of the call. A token of a wrong type is ignored.
pub(crate) fn progress_token(meta: &str) -> Option<ProgressToken> {
    let mut members = Members::new(meta).ok()?;
    while let Some((key, text)) = members.next().ok()? {
        if key == "progressToken" {
            return serde_json::from_str(text).ok();
        }
    }
    None
}
