//! Table of the requests that wait for a reply.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use treenail_runtime::client::ClientError;

use crate::Answer;

/// Requests that wait for a reply, by id. The reply may arrive on any stream of the session.
#[derive(Debug, Default)]
pub(crate) struct PendingReplies(Mutex<BTreeMap<i64, oneshot::Sender<Answer>>>);

impl PendingReplies {
    pub(crate) fn insert(&self, id: i64) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        self.lock().insert(id, sender);
        receiver
    }

    pub(crate) fn remove(&self, id: i64) {
        let sender = self.lock().remove(&id);
        drop(sender);
    }

    /// Passes an answer to the request with this id, if it still waits.
    pub(crate) fn complete(&self, id: i64, answer: Answer) {
        let sender = self.lock().remove(&id);
        if sender.is_none_or(|sender| sender.send(answer).is_err()) {
            tracing::debug!(
                id,
                "dropped an answer of the server that no request waits for"
            );
        }
    }

    pub(crate) fn fail_all(&self, reason: &ClientError) {
        // Bound first, because a lock in the head of a loop is held until its end.
        let senders = std::mem::take(&mut *self.lock());
        for sender in senders.into_values() {
            // The receiver may already be gone.
            let _ = sender.send(Err(reason.clone()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<i64, oneshot::Sender<Answer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
