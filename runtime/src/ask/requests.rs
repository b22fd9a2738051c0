//! Questions in the legacy era: requests of the server to its client.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot::{Receiver, Sender, channel};
use tokio::sync::{Semaphore, SemaphorePermit};
use treenail_schema::InputRequest;

use crate::ask::error::AskError;
use crate::wire::{RpcError, copied_id};

/// Pending requests to one client, up to a bound.
#[derive(Debug)]
pub(crate) struct Requests {
    permits: Semaphore,
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    last_id: u64,
    /// Set if no response can arrive any more.
    closed: bool,
    replies: HashMap<u64, Sender<Response>>,
}

/// The text of a result, or an error.
type Response = Result<Box<str>, RpcError>;

impl Requests {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            permits: Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)),
            pending: Mutex::default(),
        }
    }

    /// Makes an empty table whose ids continue those of this one.
    pub(crate) fn successor(&self, most: usize) -> Self {
        let last_id = self.lock().last_id;
        let next = Self::new(most);
        next.lock().last_id = last_id;
        next
    }

    /// Waits for a permit, and adds a request. Fails if no response can arrive any more.
    pub(crate) async fn open(&self) -> Result<PendingReply<'_>, AskError> {
        let permit = self.permits.acquire().await;
        let permit = permit.map_err(|_| AskError::Closed)?;
        let (sender, response) = channel();
        let mut pending = self.lock();
        if pending.closed {
            return Err(AskError::Closed);
        }
        pending.last_id += 1;
        let id = pending.last_id;
        pending.replies.insert(id, sender);
        Ok(PendingReply {
            requests: self,
            _permit: permit,
            id,
            response,
        })
    }

    /// Ends all requests, pending and later ones, with [`AskError::Closed`], because no response can arrive any more.
    pub(crate) fn close(&self) {
        let replies = {
            let mut pending = self.lock();
            pending.closed = true;
            std::mem::take(&mut pending.replies)
        };
        // Both wake tasks, so the lock is released first.
        self.permits.close();
        drop(replies);
    }

    /// Returns `true` if a request is pending.
    pub(crate) fn has_pending(&self) -> bool {
        !self.lock().replies.is_empty()
    }

    /// Handles the client's response to the request whose id has this text.
    pub(crate) fn on_response(&self, id: &str, response: Result<&str, &str>) {
        self.reply(id, || response.map(Into::into).map_err(read_error));
    }

    /// Ends the request whose id has this text, because the client's response to it cannot be used. Returns `true` if it was
    /// pending.
    pub(crate) fn reject_response(&self, id: &str, reason: &str) -> bool {
        self.reply(id, || {
            Err(RpcError::internal(format!(
                "its response is not valid: {reason}"
            )))
        })
    }

    /// Passes a response to its request. Returns `true` if that was pending.
    fn reply(&self, id: &str, response: impl FnOnce() -> Response) -> bool {
        let reply = copied_id(id).and_then(|id| self.lock().replies.remove(&id));
        let Some(reply) = reply else {
            tracing::debug!(id, "a response to no pending request was dropped");
            return false;
        };
        // The receiver may already be gone.
        let _ = reply.send(response());
        true
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pending reply to one request. Dropping it removes the request.
#[derive(Debug)]
pub(crate) struct PendingReply<'a> {
    requests: &'a Requests,
    _permit: SemaphorePermit<'a>,
    id: u64,
    response: Receiver<Response>,
}

impl PendingReply<'_> {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Writes the request as a message.
    #[inline]
    pub(crate) fn message(&self, request: &InputRequest) -> Result<Vec<u8>, AskError> {
        let mut message = format!(r#"{{"jsonrpc":"2.0","id":{},"#, self.id).into_bytes();
        // An embedded request is the same object without `jsonrpc` and `id`.
        let start = message.len();
        serde_json::to_writer(&mut message, request)
            .map_err(|error| AskError::NotAllowed(error.to_string()))?;
        message.remove(start);
        Ok(message)
    }

    /// Waits for the response.
    pub(crate) async fn response(&mut self) -> Result<Box<str>, AskError> {
        match (&mut self.response).await {
            Ok(response) => response.map_err(AskError::Refused),
            Err(_) => Err(AskError::Closed),
        }
    }

    /// Returns `true` until the client has responded.
    pub(crate) fn is_open(&self) -> bool {
        self.requests.lock().replies.contains_key(&self.id)
    }
}

impl Drop for PendingReply<'_> {
    fn drop(&mut self) {
        self.requests.lock().replies.remove(&self.id);
    }
}

/// The longest error message of a client that is passed on, in characters.
const MESSAGE_CHARACTERS: usize = 1_000;

fn read_error(text: &str) -> RpcError {
    match serde_json::from_str::<RpcError>(text) {
        Ok(mut error) => {
            let message: String = error.message.chars().take(MESSAGE_CHARACTERS).collect();
            error.message = message.into();
            error
        }
        Err(_) => RpcError::internal("the client's error has no code or no message"),
    }
}
