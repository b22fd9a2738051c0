//! A request that outlives the message it came in, because its function starts later.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::call::{Call, Turn};
use crate::context::Context;
use crate::extensions::Extensions;
use crate::outbox::Outbox;
use crate::revision::Peer;

/// What a [`Call`] borrows, copied.
#[derive(Clone, Debug)]
pub(crate) struct OwnedCall {
    peer: Arc<Peer>,
    id: Box<str>,
    target: Box<str>,
    pub(crate) arguments: Option<Box<str>>,
    meta: Option<Box<str>>,
    blocking: Arc<Semaphore>,
    outbox: Outbox,
    extensions: Extensions,
    context: Option<Context>,
}

impl OwnedCall {
    pub(crate) fn new(call: &Call<'_>) -> Self {
        Self {
            peer: Arc::clone(call.peer),
            id: call.id.into(),
            target: call.target.into(),
            arguments: call.arguments.map(Into::into),
            meta: call.meta.map(Into::into),
            blocking: Arc::clone(call.blocking),
            outbox: call.outbox.clone(),
            extensions: call.extensions.clone(),
            context: call.context.cloned(),
        }
    }

    /// The same with what has been made of it already.
    #[cfg(feature = "tower")]
    pub(crate) fn with_context(mut self, context: Context) -> Self {
        self.extensions = context.extensions().clone();
        self.context = Some(context);
        self
    }

    /// The request as a function takes it.
    pub(crate) fn borrow<'a>(&'a self, turn: Option<&'a Turn>) -> Call<'a> {
        Call {
            peer: &self.peer,
            id: &self.id,
            target: &self.target,
            arguments: self.arguments.as_deref(),
            meta: self.meta.as_deref(),
            blocking: &self.blocking,
            outbox: &self.outbox,
            extensions: &self.extensions,
            context: self.context.as_ref(),
            turn,
        }
    }
}
