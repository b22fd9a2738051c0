//! Requests of the server that wait for an answer of the user.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{Hub, now_ms};

/// Maximum number of open requests.
const MAX_ASKS: usize = 16;

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskKind {
    Elicitation,
    Sampling,
}

/// Answer of a user: JSON of the result, or the message of an error.
pub(crate) type Answer = Result<Value, String>;

#[derive(Debug)]
struct Ask {
    kind: AskKind,
    time: u64,
    /// JSON of the parameters.
    params: Value,
    answer: oneshot::Sender<Answer>,
}

/// Open requests by number.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    open: BTreeMap<u64, Ask>,
    last: u64,
}

impl Asks {
    pub(crate) fn to_json(&self) -> Value {
        let open = self.open.iter();
        open.map(|(id, ask)| ask.to_json(*id)).collect()
    }

    /// Returns the kind and the parameters of an open request.
    pub(crate) fn get(&self, id: u64) -> Option<(AskKind, &Value)> {
        let ask = self.open.get(&id)?;
        Some((ask.kind, &ask.params))
    }
}

impl Ask {
    fn to_json(&self, id: u64) -> Value {
        let kind = match self.kind {
            AskKind::Elicitation => "elicitation",
            AskKind::Sampling => "sampling",
        };
        json!({"id": id, "kind": kind, "time": self.time, "params": self.params})
    }
}

impl Hub {
    /// Shows a request, and waits for the answer. Dropping the future removes the request: its sender has cancelled it.
    pub(crate) async fn ask(self: Arc<Self>, kind: AskKind, params: Value) -> Answer {
        let (answer, answered) = oneshot::channel();
        let (guard, _pauses) = {
            let mut state = self.state();
            if state.asks.open.len() >= MAX_ASKS {
                return Err("too many requests wait for the user".to_owned());
            }
            state.asks.last += 1;
            let id = state.asks.last;
            let ask = Ask {
                kind,
                time: now_ms(),
                params,
                answer,
            };
            state.asks.open.insert(id, ask);
            self.send_asks(&state);
            let guard = OpenAsk {
                hub: Arc::clone(&self),
                id,
            };
            // The time that the user needs does not count towards the timeouts.
            (guard, state.calls.pause())
        };
        let answer = answered.await;
        drop(guard);
        answer.unwrap_or_else(|_| Err("the request was not answered".to_owned()))
    }

    /// Answers a request. Returns false if it is not open.
    pub(crate) fn answer(&self, id: u64, answer: Answer) -> bool {
        let ask = self.state().asks.open.remove(&id);
        // The event follows when the waiting future is dropped.
        ask.is_some_and(|ask| ask.answer.send(answer).is_ok())
    }

    fn send_asks(&self, state: &super::State) {
        let event = json!({"type": "asks", "asks": state.asks.to_json()});
        self.send(state, &event);
    }
}

/// Guard that removes its request.
struct OpenAsk {
    hub: Arc<Hub>,
    id: u64,
}

impl Drop for OpenAsk {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        state.asks.open.remove(&self.id);
        self.hub.send_asks(&state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_is_open_until_it_is_answered_or_dropped() {
        let hub = Arc::new(Hub::default());
        let ask = || tokio::spawn(Arc::clone(&hub).ask(AskKind::Sampling, json!({"a": 1})));
        let asking = ask();
        tokio::task::yield_now().await;
        assert_eq!(hub.state().asks.to_json()[0]["params"], json!({"a": 1}));
        assert!(hub.answer(1, Ok(json!("yes"))));
        assert_eq!(asking.await.unwrap(), Ok(json!("yes")));
        assert!(!hub.answer(1, Ok(json!("again"))));

        let dropped = ask();
        tokio::task::yield_now().await;
        dropped.abort();
        assert!(dropped.await.unwrap_err().is_cancelled());
        assert_eq!(hub.state().asks.to_json(), json!([]));
    }

    #[tokio::test]
    async fn open_requests_are_bounded() {
        let hub = Arc::new(Hub::default());
        let ask = || Arc::clone(&hub).ask(AskKind::Elicitation, json!({}));
        let open: Vec<_> = (0..MAX_ASKS).map(|_| tokio::spawn(ask())).collect();
        tokio::task::yield_now().await;
        assert!(ask().await.is_err());
        open.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
