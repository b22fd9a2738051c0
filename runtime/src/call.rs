//! One request for a tool, a prompt or a resource: what it is called with, and how long it lasts.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use treenail_schema::{Notification, ProgressToken, RequestId};

use crate::context::Context;
use crate::extensions::Extensions;
use crate::outbox::{Outbox, notification};
use crate::revision::Peer;
use crate::wire::Members;

/// One request for a tool, a prompt or a resource, as the code that the macros write gets it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub(crate) peer: &'a Arc<Peer>,
    /// The text of the request's id.
    pub(crate) id: &'a str,
    /// What is asked for: the name of a tool or prompt, or the URI of a resource.
    pub(crate) target: &'a str,
    /// The text of the `arguments` object.
    pub(crate) arguments: Option<&'a str>,
    /// The text of the `_meta` object.
    pub(crate) meta: Option<&'a str>,
    /// The turns of functions that block.
    pub(crate) blocking: &'a Arc<Semaphore>,
    /// Where messages to the caller go.
    pub(crate) outbox: &'a Outbox,
    /// What came with the call from outside of the protocol.
    pub(crate) extensions: &'a Extensions,
    /// What the layers around a tool have made of the call already.
    pub(crate) context: Option<&'a Context>,
    /// The turn of a tool of which only so many calls run at once; it lasts as long as the function.
    pub(crate) turn: Option<&'a Turn>,
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
        Lifetime(None)
    }
}

impl CallValue for Context {
    fn from_call(call: &Call<'_>) -> Self {
        let new = || Self::new(CallState::new(call), call.extensions.clone());
        call.context.cloned().unwrap_or_else(new)
    }

    fn lifetime(&self) -> Lifetime {
        let ends = !self.state().has_layers;
        Lifetime(ends.then(|| Arc::clone(self.state())))
    }
}

/// Ends a call when it is dropped: nothing is sent for it any more, and those who wait for the end are told.
#[derive(Debug)]
pub struct Lifetime(Option<Arc<CallState>>);

impl Drop for Lifetime {
    fn drop(&mut self) {
        if let Some(state) = &self.0 {
            state.end();
        }
    }
}

/// What all contexts of one call share.
#[derive(Debug)]
pub(crate) struct CallState {
    pub(crate) peer: Arc<Peer>,
    pub(crate) id: RequestId,
    pub(crate) meta: Option<Box<str>>,
    /// Given by a caller that wants to hear of progress.
    pub(crate) progress_token: Option<ProgressToken>,
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
}

impl CallState {
    fn new(call: &Call<'_>) -> Self {
        Self {
            peer: Arc::clone(call.peer),
            // The text has been checked to be a string or an integer; one beyond 64 bits is kept as its digits.
            id: serde_json::from_str(call.id)
                .unwrap_or_else(|_| RequestId::String(call.id.to_owned())),
            meta: call.meta.map(Into::into),
            progress_token: call.meta.and_then(progress_token),
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

    /// The check and the sending happen under one lock, so that nothing comes out of order or after the end.
    async fn send<N: Notification>(
        &self,
        params: &N::Params,
        check: impl FnOnce(&mut Live) -> bool,
    ) {
        let Some(permit) = self.outbox.reserve().await else {
            return;
        };
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if !live.ended && check(&mut live) {
            permit.send(notification::<N>(params));
        }
    }

    /// A call that goes on after its function, in the layers around it, until what is returned second is dropped.
    #[cfg(feature = "tower")]
    pub(crate) fn with_layers(call: &Call<'_>) -> (Context, Lifetime) {
        let mut state = Self::new(call);
        state.has_layers = true;
        let context = Context::new(state, call.extensions.clone());
        let lifetime = Lifetime(Some(Arc::clone(context.state())));
        (context, lifetime)
    }

    fn end(&self) {
        self.live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .ended = true;
        self.ended.notify_waiters();
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .ended
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
fn progress_token(meta: &str) -> Option<ProgressToken> {
    let mut members = Members::new(meta).ok()?;
    while let Some((key, text)) = members.next().ok()? {
        if key == "progressToken" {
            return serde_json::from_str(text).ok();
        }
    }
    None
}
