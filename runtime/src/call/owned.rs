//! A call that outlives the message of its request, because its function starts later.

use std::sync::Arc;

use crate::ask::ResumedState;
use crate::call::{Call, OwnedTarget, Permit};
use crate::context::Context;
use crate::extensions::Extensions;
use crate::outbox::Outbox;
use crate::request_id::CallId;
use crate::revision::Peer;
use crate::server::Server;

/// A [`Call`] that owns the values it refers to.
#[derive(Clone, Debug)]
pub(crate) struct OwnedCall {
    pub(crate) peer: Arc<Peer>,
    id: Arc<str>,
    pub(crate) target: OwnedTarget,
    meta: Option<Box<str>>,
    pub(crate) server: Server,
    outbox: Outbox,
    resumed: Option<ResumedState>,
    extensions: Extensions,
    context: Option<Context>,
}

impl OwnedCall {
    pub(crate) fn new(call: &Call<'_>) -> Self {
        Self {
            peer: Arc::clone(call.peer),
            id: call.id.shared(),
            target: call.target.into(),
            meta: call.meta.map(Into::into),
            server: call.server.clone(),
            outbox: call.outbox.clone(),
            resumed: call.resumed.cloned(),
            extensions: call.extensions.clone(),
            context: call.context.cloned(),
        }
    }

    /// Returns the call with the context that the layers share with the function.
    pub(crate) fn with_context(mut self, context: Context) -> Self {
        self.extensions = context.extensions().clone();
        self.context = Some(context);
        self
    }

    /// Returns the text of the id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the text of the `_meta` object.
    pub(crate) fn meta(&self) -> Option<&str> {
        self.meta.as_deref()
    }

    pub(crate) fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// Returns the call as a handler takes it.
    pub(crate) fn borrow<'a>(&'a self, permit: Option<&'a Permit>) -> Call<'a> {
        Call {
            peer: &self.peer,
            id: CallId::Shared(&self.id),
            target: self.target.borrow(),
            meta: self.meta.as_deref(),
            params: None,
            server: &self.server,
            outbox: &self.outbox,
            resumed: self.resumed.as_ref(),
            extensions: &self.extensions,
            context: self.context.as_ref(),
            permit,
        }
    }
}
