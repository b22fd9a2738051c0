//! Table of the requests that wait for a reply.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use treenail_runtime::client::ClientError;

use crate::Answer;

/// Answer of the server on another stream, or the reason why there will be none.
pub(crate) type Reply = Result<Answer, ClientError>;

/// Requests that wait for a reply, by id. The reply may arrive on any stream of the session.
#[derive(Debug, Default)]
pub(crate) struct PendingReplies(Mutex<BTreeMap<i64, oneshot::Sender<Reply>>>);

impl PendingReplies {
    pub(crate) fn insert(&self, id: i64) -> oneshot::Receiver<Reply> {
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
        if sender.is_none_or(|sender| sender.send(Ok(answer)).is_err()) {
            tracing::debug!(
                id,
                "dropped an answer of the server that no request waits for"
            );
        }
    }

    pub(crate) fn is_waiting(&self, id: i64) -> bool {
        self.lock().contains_key(&id)
    }

    /// Fails the request with this id, if it still waits.
    pub(crate) fn fail(&self, id: i64, reason: ClientError) {
        let sender = self.lock().remove(&id);
        if let Some(sender) = sender {
            // The receiver may already be gone.
            let _ = sender.send(Err(reason));
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

    fn lock(&self) -> MutexGuard<'_, BTreeMap<i64, oneshot::Sender<Reply>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
