//! Number of the sessions of the legacy era.

use std::any::Any;
use std::sync::Arc;

use treenail::context::Extensions;
use treenail::observe::{Observation, ObservedRequest, ObservedSession, ServerObserver};

/// Counter that each session shares until it ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions(Arc<()>);

/// Shares the counter of its server.
struct Session(#[expect(dead_code, reason = "it is counted")] Arc<()>);

impl Sessions {
    /// Returns the number of sessions. The server and the tool share the counter too.
    pub(crate) fn count(&self) -> usize {
        Arc::strong_count(&self.0) - 2
    }
}

impl ServerObserver for Sessions {
    fn request(&self, _: &ObservedRequest<'_>, _: &mut Extensions) -> Option<Box<dyn Observation>> {
        None
    }

    fn session(&self, _: &ObservedSession) -> Option<Box<dyn Any + Send + Sync>> {
        Some(Box::new(Session(Arc::clone(&self.0))))
    }
}
