//! Requests of a test client and their answers, as messages.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use treenail_schema::{MaybeInputRequired, error_code};

use crate::server::{PendingAnswer, Received};
use crate::test_client::TestClient;
use crate::test_client::answers::{MOST_QUESTIONS, asked};
use crate::wire::RpcError;

/// A message of the server that answers a request.
#[derive(Deserialize)]
struct Answer {
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

/// Any other message of the server.
#[derive(Deserialize)]
struct Told {
    id: Option<Value>,
    method: String,
    #[serde(default)]
    params: Value,
}

impl TestClient {
    /// Makes a request until it is finished: what the server asks for on the way is answered, if there are answers.
    pub(super) async fn exchange(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<Box<RawValue>, RpcError> {
        self.answered = 0;
        let mut round = params.clone();
        loop {
            let result = self.round(method, round).await?;
            let Some(answers) = self.profile.answers.clone() else {
                return Ok(result);
            };
            let Some(asked) = asked(&result)? else {
                return Ok(result);
            };
            let questions = asked.input_requests.as_ref().map_or(0, BTreeMap::len);
            // A round may ask for nothing, and only want to be called again.
            self.count(questions.max(1))?;
            round = params.clone();
            answers.answer_result(asked, &mut round)?;
        }
    }

    /// Counts questions that are about to be answered.
    fn count(&mut self, questions: usize) -> Result<(), RpcError> {
        self.answered = self.answered.saturating_add(questions);
        if self.answered <= MOST_QUESTIONS {
            return Ok(());
        }
        let message =
            format!("the test client answers at most {MOST_QUESTIONS} questions of one request");
        Err(RpcError::internal(message))
    }

    /// Sends a request and waits for its answer; what the server sends meanwhile is kept.
    async fn round(&mut self, method: &str, mut params: Value) -> Result<Box<RawValue>, RpcError> {
        self.last_id += 1;
        self.profile.add_meta(self.last_id, &mut params);
        let message =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let mut answer = Vec::new();
        let received = self
            .connection
            .receive(message.to_string().as_bytes(), &mut answer);
        if let Received::Pending(pending) = received {
            answer = self.wait(pending).await;
        }
        self.receive_outgoing();
        let Answer { result, error } =
            serde_json::from_slice(&answer).map_err(|error| unreadable(&error))?;
        match (result, error) {
            (Some(result), None) => Ok(result),
            (_, Some(error)) => Err(error),
            (None, None) => Err(RpcError::internal("the answer has no result")),
        }
    }

    /// Goes on with a request until it is answered. Dropping it drops the function that answers.
    async fn wait(&mut self, pending: PendingAnswer) -> Vec<u8> {
        let mut pending = pin!(pending);
        poll_fn(|context| {
            loop {
                match self.connection.poll_outgoing(context) {
                    Poll::Ready(message) => self.take(&message),
                    Poll::Pending => return pending.as_mut().poll(context),
                }
            }
        })
        .await
    }

    /// Sends a message that the server does not answer.
    pub(super) fn send(&mut self, message: &Value) {
        let mut out = Vec::new();
        self.connection
            .receive(message.to_string().as_bytes(), &mut out);
    }

    /// Takes over what the server has sent of its own.
    pub(super) fn receive_outgoing(&mut self) {
        while let Some(message) = self.connection.next_outgoing() {
            self.take(&message);
        }
    }

    fn take(&mut self, message: &[u8]) {
        match serde_json::from_slice(message) {
            Ok(Told {
                id: None,
                method,
                params,
            }) => self.notifications.push((method, params)),
            Ok(Told {
                id: Some(id),
                method,
                params,
            }) => self.answer(&id, &method, &params),
            Err(error) => tracing::warn!(%error, "a message of the server cannot be read"),
        }
    }

    /// Answers a request of the server.
    fn answer(&mut self, id: &Value, method: &str, params: &Value) {
        let counted = self.count(1);
        let answer = counted.and_then(|()| match &self.profile.answers {
            Some(answers) => answers.answer_request(method, params),
            None => Err(RpcError::new(
                error_code::METHOD_NOT_FOUND,
                format!(
                    "the test client does not answer `{method}`; see `TestClientBuilder::answer`"
                ),
            )),
        });
        self.send(&match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        });
    }
}

/// The result of a request that is finished, as it is if there are answers to what the server asks.
pub(super) fn finished<T>(response: MaybeInputRequired<T>) -> Result<T, RpcError> {
    let asks = || {
        RpcError::internal(
            "the server asks for input, and the test client has no answers; see `TestClientBuilder::answer`",
        )
    };
    response.complete().ok_or_else(asks)
}

/// Reads a result as its type.
pub(super) fn read_as<T: DeserializeOwned>(result: &RawValue) -> Result<T, RpcError> {
    serde_json::from_str(result.get()).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> RpcError {
    RpcError::internal(format!("the answer cannot be read: {error}"))
}
