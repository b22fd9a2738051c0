//! One call of a tool, a prompt, a resource or a completer, as its handler gets it.

mod faults;
mod lifetime;
mod owned;
mod state;
mod target;

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use treenail_schema::Method;

pub(crate) use self::faults::Faults;
pub use self::lifetime::Lifetime;
pub(crate) use self::owned::OwnedCall;
pub(crate) use self::state::{CallState, progress_token};
pub(crate) use self::target::{CallTarget, OwnedTarget};
use crate::ask::{ResumedState, Round};
use crate::context::Context;
use crate::extensions::Extensions;
use crate::outbox::Outbox;
use crate::request_id::CallId;
use crate::revision::Peer;
use crate::server::Server;

/// One request for a tool, a prompt or a resource, as the code that the macros write gets it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub(crate) peer: &'a Arc<Peer>,
    /// The request's id.
    pub(crate) id: CallId<'a>,
    pub(crate) target: CallTarget<'a>,
    /// The text of the `_meta` object.
    pub(crate) meta: Option<&'a str>,
    /// The text of the parameters of a request that runs now.
    pub(crate) params: Option<&'a str>,
    pub(crate) server: &'a Server,
    /// Queue of messages for the caller.
    pub(crate) outbox: &'a Outbox,
    /// The caller's answers in earlier rounds of the same request.
    pub(crate) resumed: Option<&'a ResumedState>,
    /// Values from outside of the protocol.
    pub(crate) extensions: &'a Extensions,
    /// The context that the layers around a tool share with its function.
    pub(crate) context: Option<&'a Context>,
    /// The permit of a tool with a bound on its concurrent calls, held until the function has finished.
    pub(crate) permit: Option<&'a Permit>,
}

impl Call<'_> {
    /// Returns true if the caller is of the modern era and can answer questions.
    fn may_ask(&self) -> bool {
        let capabilities = self.peer.capabilities();
        self.peer.revision().is_modern()
            && self.target.method.is_some_and(has_questions)
            && (capabilities.elicitation.is_some()
                || capabilities.sampling.is_some()
                || capabilities.roots.is_some())
    }

    /// Returns true if the call runs as a task already.
    pub(crate) fn is_task(&self) -> bool {
        self.context
            .is_some_and(|context| context.state().is_task())
    }

    fn new_round(&self) -> Arc<Round> {
        let config = self.server.elicit_config();
        Arc::new(Round::new(config, self.target, self.resumed))
    }
}

/// Returns `true` if the protocol has questions in the results of `method`, in the modern era.
pub(crate) fn has_questions(method: Method) -> bool {
    matches!(
        method,
        Method::CallTool | Method::GetPrompt | Method::ReadResource
    )
}

/// Permission for one of the concurrent calls of a tool.
pub(crate) type Permit = Arc<OwnedSemaphorePermit>;

/// A type that a function may take by reference instead of an argument: [`Context`].
#[diagnostic::on_unimplemented(
    message = "`&{Self}` cannot be an argument",
    label = "an argument is owned: write `String` for `&str`, `Vec<T>` for `&[T]`, `T` for `&T`",
    note = "only `&Context` is taken by reference; state such as a database is in `self`: write `&self`, and mount a value of the type"
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

/// A value made from a call before its function runs: a [`Context`], or `()` for a function that takes none.
pub trait CallValue: Send + 'static {
    /// Makes the value.
    fn from_call(call: &Call<'_>) -> Self;

    /// Returns a guard that ends the call when it is dropped.
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
