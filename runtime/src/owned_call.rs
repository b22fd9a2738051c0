//! A request that outlives the message it came in, because its function starts later.

use std::sync::Arc;

use crate::ask::{Origin, Resumed};
use crate::call::{Call, Turn};
use crate::context::Context;
use crate::extensions::Extensions;
use crate::outbox::Outbox;
use crate::request_id::CallId;
use crate::revision::Peer;
use crate::server::Server;

/// What a [`Call`] borrows, copied.
#[derive(Clone, Debug)]
pub(crate) struct OwnedCall {
    peer: Arc<Peer>,
    id: Arc<str>,
    principal: Option<Box<str>>,
    method: Box<str>,
    target: Box<str>,
    pub(crate) arguments: Option<Box<str>>,
    meta: Option<Box<str>>,
    server: Server,
    outbox: Outbox,
    resumed: Option<Resumed>,
    extensions: Extensions,
    context: Option<Context>,
}

impl OwnedCall {
    pub(crate) fn new(call: &Call<'_>) -> Self {
        Self {
            peer: Arc::clone(call.peer),
            id: call.id.shared(),
            principal: call.origin.principal.map(Into::into),
            method: call.origin.method.into(),
            target: call.origin.target.into(),
            arguments: call.origin.arguments.map(Into::into),
            meta: call.meta.map(Into::into),
            server: call.server.clone(),
            outbox: call.outbox.clone(),
            resumed: call.resumed.cloned(),
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
            id: CallId::Shared(&self.id),
            origin: Origin {
                principal: self.principal.as_deref(),
                method: &self.method,
                target: &self.target,
                arguments: self.arguments.as_deref(),
            },
            meta: self.meta.as_deref(),
            server: &self.server,
            outbox: &self.outbox,
            resumed: self.resumed.as_ref(),
            extensions: &self.extensions,
            context: self.context.as_ref(),
            turn,
        }
    }
}
