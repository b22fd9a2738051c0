//! The calls in flight that have a task of their own.

use std::collections::HashMap;
use std::task::{Context, Poll, ready};

use tokio::task::{AbortHandle, JoinSet};
use treenail_schema::RequestId;

use crate::server::PendingAnswer;

/// The calls of a session that were not ready at once.
#[derive(Default)]
pub(super) struct Calls {
    tasks: JoinSet<(Option<RequestId>, Vec<u8>)>,
    handles: HashMap<RequestId, AbortHandle>,
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn start(&mut self, answer: PendingAnswer) {
        let id = answer.id().cloned();
        let key = id.clone();
        let handle = self.tasks.spawn(async move { (id, answer.await) });
        if let Some(key) = key {
            self.handles.insert(key, handle);
        }
    }

    pub(super) fn cancel(&mut self, id: &RequestId) {
        if let Some(handle) = self.handles.remove(id) {
            handle.abort();
        }
    }

    /// The answer of the next call that is finished.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        loop {
            match ready!(self.tasks.poll_join_next(context)) {
                None => return Poll::Ready(None),
                Some(Ok((id, answer))) => {
                    if let Some(id) = id {
                        self.handles.remove(&id);
                    }
                    return Poll::Ready(Some(answer));
                }
                Some(Err(error)) if error.is_cancelled() => {}
                Some(Err(error)) => tracing::error!(%error, "a call was lost"),
            }
        }
    }
}
