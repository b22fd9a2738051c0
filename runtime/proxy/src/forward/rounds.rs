//! Rounds of a call of a server of the modern era, which requests input as its result.

use std::collections::{BTreeMap, HashSet};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use treenail_runtime::{AskError, Context};
use treenail_schema::InputRequest;

use super::Forwarder;
use crate::failure::Failure;
use crate::link::RemoteCall;
use crate::rewrite::without_cache_hints;

/// Delay before the next round if a server requests a retry without input.
const RETRY_DELAY: Duration = Duration::from_millis(50);

impl Forwarder<'_> {
    /// The server is of the modern era: it requests input as a result, and is called again with the answers.
    pub(super) async fn in_rounds(
        &self,
        context: &Context,
        call: &RemoteCall,
    ) -> Result<String, Failure> {
        let (mut members, mut used) = (String::new(), HashSet::new());
        let rounds = context.server().limits().input_rounds;
        for number in 0..=rounds {
            // Earlier rounds are read from the state of the client, and the server is not called again for them.
            let round = context.once(round_key(number), async {
                let exchange = self.start(context, call, &members);
                match exchange.response(context).await {
                    Ok(text) => self.read_round(text),
                    Err(error) => Err(Outcome::Failed(self.failure(&error))),
                }
            });
            match round.await {
                // A result may depend on the input of the rounds before it.
                Err(Outcome::Complete(text)) if number > 0 && call.method == "resources/read" => {
                    return Ok(without_cache_hints(text));
                }
                Err(Outcome::Complete(text)) => return Ok(text),
                Err(Outcome::Failed(failure)) => return Err(failure),
                Ok(round) => {
                    let keys = unique_keys(&round, &mut used);
                    members = self.answer_round(context, round, &keys).await?;
                }
            }
        }
        Err(Failure::Server(format!(
            "the server `{}` requested input in more than {rounds} rounds of one call",
            self.server
        )))
    }

    /// Reads a result: complete, or a request for input.
    fn read_round(&self, text: String) -> Result<RemoteRound, Outcome> {
        // Searching is cheaper than parsing, and nearly all results are complete.
        if memmem::find(text.as_bytes(), b"\"resultType\"").is_none()
            || memmem::find(text.as_bytes(), b"\"resultType\":\"complete\"").is_some()
                && memmem::find(text.as_bytes(), b"input_required").is_none()
        {
            return Err(Outcome::Complete(text));
        }
        let broken = |reason: &str| {
            let message = format!("the server `{}` broke the protocol: {reason}", self.server);
            Outcome::Failed(Failure::Server(message))
        };
        let kind: ResultType =
            serde_json::from_str(&text).map_err(|_| broken("a result is not an object"))?;
        match kind.result_type.as_deref() {
            None | Some("complete") => Err(Outcome::Complete(text)),
            Some("input_required") => {
                if text.len() > self.limits.question_bytes {
                    return Err(broken("its requests for input are too large"));
                }
                serde_json::from_str(&text).map_err(|error| {
                    broken(&format!("its requests for input are malformed: {error}"))
                })
            }
            Some(_) => Err(broken("a result has an unknown type")),
        }
    }

    /// Asks the client everything that the server requests in one round. Returns the members of the next request.
    async fn answer_round(
        &self,
        context: &Context,
        round: RemoteRound,
        keys: &BTreeMap<String, String>,
    ) -> Result<String, Failure> {
        let mut members = String::new();
        if round.requests.is_empty() {
            tokio::time::sleep(RETRY_DELAY).await;
        } else {
            let answers = self.answers(context, keys, round.requests).await?;
            members.push_str("\"inputResponses\":{");
            for (key, answer) in answers {
                if !members.ends_with('{') {
                    members.push(',');
                }
                members.push_str(&Value::from(key).to_string());
                members.push(':');
                members.push_str(&answer);
            }
            members.push('}');
        }
        if let Some(state) = round.state.filter(|state| state.get() != "null") {
            if !members.is_empty() {
                members.push(',');
            }
            members.push_str("\"requestState\":");
            members.push_str(state.get());
        }
        Ok(members)
    }

    /// Asks all questions at once, so that a client of the modern era has them in one round.
    async fn answers(
        &self,
        context: &Context,
        keys: &BTreeMap<String, String>,
        requests: BTreeMap<String, InputRequest>,
    ) -> Result<Vec<(String, String)>, Failure> {
        let ask = |(key, request): (String, InputRequest)| async move {
            let method = request.method();
            let question = context.forward(request).key(keys.get(&key).unwrap_or(&key));
            let answer = question.await;
            answer
                .map(|answer| (key, answer))
                .map_err(|error| Failure::unanswered(self.server, method, &error))
        };
        let mut asked: Vec<_> = requests.into_iter().map(ask).map(Box::pin).collect();
        let mut answers: Vec<Option<Result<(String, String), Failure>>> = Vec::new();
        answers.resize_with(asked.len(), || None);
        poll_fn(|task| {
            let pending = asked.iter_mut().zip(&mut answers);
            for (future, answer) in pending.filter(|(_, answer)| answer.is_none()) {
                if let Poll::Ready(ready) = future.as_mut().poll(task) {
                    *answer = Some(ready);
                }
            }
            if answers.iter().all(Option::is_some) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        answers.into_iter().flatten().collect()
    }
}

/// Returns the key of the recorded result of a round that requests input.
pub(super) fn round_key(number: u32) -> String {
    format!("proxy.{number}")
}

/// Returns the keys of the questions for the client, by those of the server: the same, unless an earlier round had it.
fn unique_keys(round: &RemoteRound, used: &mut HashSet<String>) -> BTreeMap<String, String> {
    let unique = |key: &String| {
        let mut own = key.clone();
        while !used.insert(own.clone()) {
            own.push('\'');
        }
        (key.clone(), own)
    };
    round.requests.keys().map(unique).collect()
}

/// Request of a server of the modern era for input, as the sealed state of a client contains it.
#[derive(Debug, Serialize, Deserialize)]
struct RemoteRound {
    #[serde(rename = "inputRequests", default)]
    requests: BTreeMap<String, InputRequest>,
    /// Opaque to clients, which return it unchanged.
    #[serde(
        rename = "requestState",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    state: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ResultType {
    #[serde(rename = "resultType", default)]
    result_type: Option<String>,
}

/// End of a call.
enum Outcome {
    Complete(String),
    Failed(Failure),
}

impl From<AskError> for Outcome {
    fn from(error: AskError) -> Self {
        Self::Failed(error.into())
    }
}
