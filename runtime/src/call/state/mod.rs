//! The part of a call that its contexts and tasks share.

mod end;
mod messages;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;
use treenail_schema::internal::PackedTexts;
use treenail_schema::{Method, Number, ProgressToken};

#[cfg(feature = "tower")]
use crate::ask::Level;
use crate::ask::Round;
#[cfg(feature = "tower")]
use crate::call::Lifetime;
use crate::call::{Call, CallTarget, Faults};
#[cfg(feature = "tower")]
use crate::context::Context;
use crate::outbox::Outbox;
use crate::request_id::LazyId;
use crate::revision::Peer;
use crate::server::Server;
use crate::task::{Journal, TaskLink};
use crate::wire::{Members, RpcError};

/// State that all contexts of one call share.
#[derive(Debug)]
pub(crate) struct CallState {
    pub(crate) peer: Arc<Peer>,
    pub(crate) server: Server,
    pub(crate) id: LazyId,
    /// The `_meta` object, the name of the target, and the arguments: those that are needed.
    texts: PackedTexts<3>,
    /// Set if the `_meta` is that of the peer.
    has_peer_meta: bool,
    /// The caller, if a transport has authenticated it.
    principal: Option<Box<str>>,
    /// The method, if its function may ask the caller in rounds.
    asks: Option<Method>,
    /// Set if the call continues after its function, in the layers around it.
    pub(super) has_layers: bool,
    outbox: Outbox,
    /// Allocated when it is first needed: most functions only return a value.
    rest: OnceLock<Box<Rest>>,
}

/// The part of the state of calls that send messages, ask their callers, fail, or are pending.
#[derive(Debug, Default)]
struct Rest {
    /// Parsed from the `_meta`.
    progress_token: OnceLock<Option<ProgressToken>>,
    round: OnceLock<Arc<Round>>,
    /// The record of the task that the call has become. Set under the lock of `live`.
    task: OnceLock<Arc<dyn TaskLink>>,
    /// Set if the call may become a task.
    is_detachable: bool,
    live: Mutex<Live>,
    /// Notified at the end of the call, and when it becomes a task.
    finished: Notify,
}

impl Rest {
    fn of(round: Arc<Round>, is_detachable: bool) -> OnceLock<Box<Self>> {
        let rest = Self {
            is_detachable,
            ..Self::default()
        };
        rest.round.get_or_init(|| round);
        Box::new(rest).into()
    }
}

#[derive(Debug, Default)]
struct Live {
    finished: bool,
    /// Set if a task waits for the end.
    awaited: bool,
    /// The last progress that was sent.
    progress: Option<f64>,
    /// The last progress with a text, of a call that may become a task: its first status.
    last_report: Option<Report>,
    faults: Faults,
}

/// Progress that a call has reported.
#[derive(Debug)]
struct Report {
    done: Number,
    total: Option<Number>,
    message: Option<Box<str>>,
}

impl CallState {
    #[expect(clippy::inline_always, reason = "see `with_arguments`")]
    #[inline(always)]
    pub(crate) fn new(call: &Call<'_>) -> Self {
        Self::with_arguments(call, false)
    }

    /// Creates the state, which has the text of the arguments on request.
    #[expect(
        clippy::inline_always,
        reason = "it is large, and is constructed where it is needed then"
    )]
    #[inline(always)]
    pub(crate) fn with_arguments(call: &Call<'_>, arguments: bool) -> Self {
        let asks = call.may_ask().then_some(call.target.method).flatten();
        let resumed = asks.and(call.resumed);
        let has_peer_meta = call.meta.is_some_and(|meta| *meta == *call.peer.meta);
        let mut texts = [""; 3];
        if !has_peer_meta {
            texts[0] = call.meta.unwrap_or_default();
        }
        if asks.is_some() {
            texts[1] = call.target.name;
        }
        if asks.is_some() || arguments {
            texts[2] = call.target.arguments.unwrap_or_default();
        }
        Self {
            peer: Arc::clone(call.peer),
            server: call.server.clone(),
            id: LazyId::new(call.id),
            texts: PackedTexts::new(texts),
            has_peer_meta,
            principal: asks.and_then(|_| call.target.principal.map(Into::into)),
            asks,
            has_layers: false,
            outbox: call.outbox.clone(),
            rest: resumed.map_or_else(OnceLock::new, |_| Rest::of(call.new_round(), false)),
        }
    }

    /// Creates the state of a call that may become a task. It shares the questions and answers with the layers around it.
    pub(crate) fn detachable(call: &Call<'_>) -> Self {
        let mut state = Self::new(call);
        let outer = call.context.and_then(|it| it.state().shared_round());
        let round = outer.or_else(|| state.shared_round()).cloned();
        state.rest = Rest::of(round.unwrap_or_else(|| call.new_round()), true);
        state
    }

    /// Returns the token that a caller sends if it requests progress.
    pub(crate) fn progress_token(&self) -> Option<&ProgressToken> {
        let parse = || self.meta().and_then(progress_token);
        self.rest().progress_token.get_or_init(parse).as_ref()
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Returns the state of questions to a caller of the modern era, or of a call that may become a task.
    pub(crate) fn round(&self) -> Option<&Round> {
        self.shared_round().map(|round| &**round)
    }

    fn shared_round(&self) -> Option<&Arc<Round>> {
        let known = self.rest.get().and_then(|rest| rest.round.get());
        if known.is_some() {
            return known;
        }
        let target = CallTarget {
            principal: self.principal.as_deref(),
            method: Some(self.asks?),
            name: self.texts.get(1),
            arguments: Some(self.texts.get(2)).filter(|it| !it.is_empty()),
        };
        let new = || Arc::new(Round::new(self.server.elicit_config(), target, None));
        Some(self.rest().round.get_or_init(new))
    }

    /// Returns the text of the `_meta` object.
    pub(crate) fn meta(&self) -> Option<&str> {
        let own = Some(self.texts.get(0)).filter(|it| !it.is_empty());
        own.or(self.has_peer_meta.then_some(&*self.peer.meta))
    }

    /// Returns the text of the arguments of a call that needs it.
    #[cfg(feature = "dynamic")]
    pub(crate) fn arguments(&self) -> &str {
        match self.texts.get(2) {
            "" => "{}",
            text => text,
        }
    }

    /// Returns the record of the task that the call has become.
    pub(crate) fn link(&self) -> Option<&Arc<dyn TaskLink>> {
        self.rest.get()?.task.get()
    }

    pub(crate) fn is_task(&self) -> bool {
        self.link().is_some()
    }

    fn is_detachable(&self) -> bool {
        self.rest.get().is_some_and(|rest| rest.is_detachable)
    }

    /// Makes the call a task. `link` gets the values that the call has obtained so far. The record gets its last progress.
    #[inline]
    pub(crate) fn detach(&self, link: impl FnOnce(Journal) -> Arc<dyn TaskLink>) {
        let mut live = self.live();
        let link = self.rest().task.get_or_init(|| link(self.journal()));
        if let Some(last) = live.last_report.take() {
            link.progress(&last.done, last.total.as_ref(), last.message.as_deref());
        }
        drop(live);
        self.rest().finished.notify_waiters();
    }

    #[inline]
    pub(crate) fn journal(&self) -> Journal {
        self.round().map(Round::journal).unwrap_or_default()
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
    pub(crate) fn set_fault(&self, error: RpcError) {
        self.live().faults.set(error);
    }

    /// Adds an error that the request is answered with if its function fails with the same message.
    pub(crate) fn add_named_fault(&self, error: RpcError) {
        self.live().faults.add_named(error);
    }

    /// Starts a call that continues after its function, in the layers around it, until the [`Lifetime`] is dropped.
    #[cfg(feature = "tower")]
    pub(crate) fn with_layers(call: &Call<'_>) -> (Context, Lifetime) {
        let mut state = Self::new(call);
        state.has_layers = true;
        let mut context = Context::new(state, call.extensions.clone());
        context.set_level(Level::OUTSIDE);
        let lifetime = Lifetime::of_layers(context.state());
        (context, lifetime)
    }

    fn rest(&self) -> &Rest {
        self.rest.get_or_init(Box::default)
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.rest()
            .live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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
