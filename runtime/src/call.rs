//! One request for a tool, a prompt or a resource: what it is called with, and how long it lasts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::sync::{Notify, OwnedSemaphorePermit};
use treenail_schema::{InputRequiredResult, Notification, Number, ProgressToken};

use crate::ask::{Origin, Resumed, Round};
use crate::context::Context;
use crate::extensions::Extensions;
use crate::outbox::{Outbox, notification};
use crate::request_id::{CallId, LazyId};
use crate::revision::Peer;
use crate::server::Server;
use crate::wire::{Members, RpcError};

/// One request for a tool, a prompt or a resource, as the code that the macros write gets it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub(crate) peer: &'a Arc<Peer>,
    /// The request's id.
    pub(crate) id: CallId<'a>,
    /// What is called, by whom, and with which arguments.
    pub(crate) origin: Origin<'a>,
    /// The text of the `_meta` object.
    pub(crate) meta: Option<&'a str>,
    pub(crate) server: &'a Server,
    /// Where messages to the caller go.
    pub(crate) outbox: &'a Outbox,
    /// What the caller has answered in earlier rounds of the same request.
    pub(crate) resumed: Option<&'a Resumed>,
    /// What came with the call from outside of the protocol.
    pub(crate) extensions: &'a Extensions,
    /// What the layers around a tool have made of the call already.
    pub(crate) context: Option<&'a Context>,
    /// The turn of a tool of which only so many calls run at once; it lasts as long as the function.
    pub(crate) turn: Option<&'a Turn>,
}

impl Call<'_> {
    /// The caller's part in questions, if it is one of the modern era that can answer any.
    fn round(&self) -> Option<Box<Round>> {
        let capabilities = self.peer.capabilities();
        let answers = capabilities.elicitation.is_some()
            || capabilities.sampling.is_some()
            || capabilities.roots.is_some();
        (answers && self.peer.revision().is_modern()).then(|| Box::new(Round::new(self)))
    }
}

/// One of the calls of a tool that may run at once.
pub(crate) type Turn = Arc<OwnedSemaphorePermit>;

/// What a function may take by reference instead of an argument: [`Context`].
#[diagnostic::on_unimplemented(
    message = "`&{Self}` cannot be an argument",
    label = "an argument is owned: write `String` for `&str`, `Vec<T>` for `&[T]`, `T` for `&T`",
    note = "only `&Context` is taken by reference"
)]
pub trait FromCall {
    /// Takes it from the call.
    fn from_call(context: &Context) -> &Self;
}

#[diagnostic::do_not_recommend]
impl FromCall for Context {
    fn from_call(context: &Context) -> &Self {
        context
    }
}

/// What is made of a call before the function runs: a [`Context`], or nothing for a function that takes none.
pub trait CallValue: Send + 'static {
    /// Takes it from the call.
    fn from_call(call: &Call<'_>) -> Self;

    /// Ends the call when it is dropped.
    fn lifetime(&self) -> Lifetime;
}

impl CallValue for () {
    fn from_call(_: &Call<'_>) -> Self {}

    fn lifetime(&self) -> Lifetime {
        Lifetime::of(None)
    }
}

impl CallValue for Context {
    fn from_call(call: &Call<'_>) -> Self {
        let new = || Self::new(CallState::new(call), call.extensions.clone());
        call.context.cloned().unwrap_or_else(new)
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::of(Some(self.state()))
    }
}

/// Ends a call when it is dropped: nothing is sent for it any more, and those who wait for the end are told.
#[derive(Debug)]
pub struct Lifetime {
    state: Option<Arc<CallState>>,
    /// Whether the call ends here, and not later in the layers around it.
    ends: bool,
}

impl Lifetime {
    /// That of the function of a call which may have a state.
    pub(crate) fn of(state: Option<&Arc<CallState>>) -> Self {
        Self {
            state: state.cloned(),
            ends: state.is_some_and(|state| !state.has_layers),
        }
    }

    /// What to answer in place of a function that waits, because it has asked its caller something; if it has not, `waker`
    /// is woken when it does.
    pub(crate) fn stop(&self, waker: &Waker) -> Option<Result<InputRequiredResult, RpcError>> {
        self.state.as_ref()?.round()?.stop(waker)
    }

    /// Ends the call; what it is answered with if its function has failed, in place of the failure.
    pub(crate) fn end(self) -> Option<RpcError> {
        self.state.as_ref().and_then(|state| state.take_fault())
    }
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        if let Some(state) = self.state.as_ref().filter(|_| self.ends) {
            state.end();
        }
    }
}

/// What all contexts of one call share.
#[derive(Debug)]
pub(crate) struct CallState {
    pub(crate) peer: Arc<Peer>,
    pub(crate) server: Server,
    pub(crate) id: LazyId,
    pub(crate) meta: Option<Box<str>>,
    /// Given by a caller that wants to hear of progress.
    pub(crate) progress_token: Option<ProgressToken>,
    round: Option<Box<Round>>,
    /// The call goes on after its function, in the layers around it.
    has_layers: bool,
    outbox: Outbox,
    live: Mutex<Live>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct Live {
    ended: bool,
    /// The progress that was told last.
    progress: Option<f64>,
    /// What the request is answered with if its function fails.
    fault: Option<RpcError>,
}

impl CallState {
    pub(crate) fn new(call: &Call<'_>) -> Self {
        Self {
            peer: Arc::clone(call.peer),
            server: call.server.clone(),
            id: LazyId::new(call.id),
            meta: call.meta.map(Into::into),
            progress_token: call.meta.and_then(progress_token),
            round: call.round(),
            has_layers: false,
            outbox: call.outbox.clone(),
            live: Mutex::default(),
            ended: Notify::new(),
        }
    }

    /// Sends a notification, unless the call has ended; waits while the caller takes none.
    pub(crate) async fn notify<N: Notification>(&self, params: &N::Params) {
        self.send::<N>(params, |_| true).await;
    }

    /// Sends a notification that tells of `progress`, unless as much has been told already.
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

    /// Sends the message that tells of one more item: its progress is `count`, or more if as much has been told already.
    pub(crate) async fn notify_item(
        &self,
        count: Number,
        message: impl FnOnce(&Number) -> Vec<u8>,
    ) {
        let Some(permit) = self.outbox.reserve().await else {
            return;
        };
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = match live.progress {
            Some(last) if count.as_f64() <= last => Number::from(last + 1.0),
            _ => count,
        };
        if !live.ended {
            live.progress = Some(progress.as_f64());
            permit.send(message(&progress));
        }
    }

    /// The check and the sending happen under one lock, so that nothing comes out of order or after the end.
    async fn send<N: Notification>(
        &self,
        params: &N::Params,
        check: impl FnOnce(&mut Live) -> bool,
    ) {
        let Some(permit) = self.outbox.reserve().await else {
            return;
        };
        let mut live = self.live();
        if !live.ended && check(&mut live) {
            permit.send(notification::<N>(params));
        }
    }

    /// Sends a message, unless the call has ended; whether it was sent.
    pub(crate) async fn send_message(&self, message: Vec<u8>) -> bool {
        let Some(permit) = self.outbox.reserve().await else {
            return false;
        };
        let live = self.live();
        if !live.ended {
            permit.send(message);
        }
        !live.ended
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// The part of the request in questions, see [`Round`].
    pub(crate) fn round(&self) -> Option<&Round> {
        self.round.as_deref()
    }

    /// Sets what the request is answered with if its function fails.
    pub(crate) fn set_fault(&self, fault: Option<RpcError>) {
        self.live().fault = fault;
    }

    fn take_fault(&self) -> Option<RpcError> {
        self.live().fault.take()
    }

    /// A call that goes on after its function, in the layers around it, until what is returned second is dropped.
    #[cfg(feature = "tower")]
    pub(crate) fn with_layers(call: &Call<'_>) -> (Context, Lifetime) {
        let mut state = Self::new(call);
        state.has_layers = true;
        let context = Context::new(state, call.extensions.clone());
        let lifetime = Lifetime {
            state: Some(Arc::clone(context.state())),
            ends: true,
        };
        (context, lifetime)
    }

    fn end(&self) {
        self.live().ended = true;
        self.ended.notify_waiters();
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.live().ended
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the call.
    pub(crate) async fn ended(&self) {
        let ended = self.ended.notified();
        if !self.is_ended() {
            ended.await;
        }
    }
}

/// The token by which the caller wants to hear of progress; one of a wrong kind is as good as none.
pub(crate) fn progress_token(meta: &str) -> Option<ProgressToken> {
    let mut members = Members::new(meta).ok()?;
    while let Some((key, text)) = members.next().ok()? {
        if key == "progressToken" {
            return serde_json::from_str(text).ok();
        }
    }
    None
}
