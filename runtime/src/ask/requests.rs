//! Asking in the legacy era: requests of the server to its client.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot::{Receiver, Sender, channel};
use tokio::sync::{Semaphore, SemaphorePermit};
use treenail_schema::InputRequest;

use crate::ask::error::AskError;
use crate::wire::RpcError;

/// The requests to one client that it has not answered yet, at most so many.
#[derive(Debug)]
pub(crate) struct Requests {
    turns: Semaphore,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    last_id: u64,
    waiting: HashMap<u64, Sender<Answer>>,
}

/// The text of a result, or an error.
type Answer = Result<Box<str>, RpcError>;

impl Requests {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            turns: Semaphore::new(most.max(1)),
            open: Mutex::default(),
        }
    }

    /// None yet, with ids that come after those of this one.
    pub(crate) fn successor(&self, most: usize) -> Self {
        let last_id = self.lock().last_id;
        let next = Self::new(most);
        next.lock().last_id = last_id;
        next
    }

    /// Waits until there is room for one more, and makes it.
    pub(crate) async fn open(&self) -> Waiting<'_> {
        let turn = self.turns.acquire().await.ok();
        let (sender, answer) = channel();
        let mut open = self.lock();
        open.last_id += 1;
        let id = open.last_id;
        open.waiting.insert(id, sender);
        Waiting {
            requests: self,
            _turn: turn,
            id,
            answer,
        }
    }

    /// Whether an answer is waited for.
    pub(crate) fn are_open(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// Takes the answer of the client to the request whose id has this text.
    pub(crate) fn answered(&self, id: &str, answer: Result<&str, &str>) {
        let waiting = id
            .parse()
            .ok()
            .and_then(|id| self.lock().waiting.remove(&id));
        let Some(waiting) = waiting else {
            tracing::debug!(id, "an answer to no request of ours was dropped");
            return;
        };
        // Whoever has asked may have gone.
        let _ = waiting.send(answer.map(Into::into).map_err(read_error));
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request without an answer; dropping it forgets the request.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    requests: &'a Requests,
    _turn: Option<SemaphorePermit<'a>>,
    id: u64,
    answer: Receiver<Answer>,
}

impl Waiting<'_> {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The request as a message.
    pub(crate) fn message(&self, request: &InputRequest) -> Result<Vec<u8>, AskError> {
        let mut message = format!(r#"{{"jsonrpc":"2.0","id":{},"#, self.id).into_bytes();
        // An embedded request is the same object without what belongs to a message.
        let start = message.len();
        serde_json::to_writer(&mut message, request)
            .map_err(|error| AskError::NotAllowed(error.to_string()))?;
        message.remove(start);
        Ok(message)
    }

    /// Waits for the answer.
    pub(crate) async fn answer(&mut self) -> Result<Box<str>, AskError> {
        match (&mut self.answer).await {
            Ok(answer) => answer.map_err(AskError::Refused),
            Err(_) => Err(AskError::Closed),
        }
    }

    /// Whether the client still owes the answer.
    pub(crate) fn is_open(&self) -> bool {
        self.requests.lock().waiting.contains_key(&self.id)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.requests.lock().waiting.remove(&self.id);
    }
}

/// The longest message of a client's error that is passed on, in characters.
const LONGEST: usize = 1_000;

fn read_error(text: &str) -> RpcError {
    #[derive(Deserialize)]
    struct ErrorObject {
        code: i64,
        #[serde(default)]
        message: String,
        data: Option<Value>,
    }

    match serde_json::from_str::<ErrorObject>(text) {
        Ok(error) => {
            let message: String = error.message.chars().take(LONGEST).collect();
            let mut read = RpcError::new(error.code, message);
            read.data = error.data;
            read
        }
        Err(_) => RpcError::internal("the client's error has no code"),
    }
}
