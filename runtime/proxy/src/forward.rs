//! Passing on of one call: the request and its response, and the requests of the server for the client, between all eras.

use std::collections::{BTreeMap, HashSet};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use treenail_runtime::internal::{NO_RANDOM_BYTES, random_id};
use treenail_runtime::{AskError, Context, RpcError};
use treenail_schema::InputRequest;

use crate::answer::{answer_directly, respond};
use crate::exchange::{Exchange, Step};
use crate::failure::Failure;
use crate::limits::ProxyLimits;
use crate::link::{Link, RemoteCall};
use crate::waiting::{Parked, WaitingCall, WaitingCalls};

/// Delay before the next round if a server requests a retry without input.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Everything that passing on calls of one server needs.
pub(crate) struct Forwarder<'a> {
    pub(crate) server: &'a str,
    pub(crate) link: &'a Arc<Link>,
    pub(crate) limits: &'a ProxyLimits,
    pub(crate) waiting: &'a WaitingCalls,
}

impl Forwarder<'_> {
    /// Passes on a call, and returns the JSON text of its result.
    pub(crate) async fn run(
        &self,
        context: &Context,
        call: &RemoteCall,
    ) -> Result<String, Failure> {
        if self.link.revision.is_modern() {
            self.in_rounds(context, call).await
        } else if context.reruns_for_answers() {
            self.waiting(context, call).await
        } else {
            self.direct(context, call).await
        }
    }

    fn start(&self, context: &Context, call: &RemoteCall, round: &str) -> Exchange {
        Exchange::start(self.link, call, round, context, self.limits)
    }

    fn failure(&self, error: &treenail_runtime::client::ClientError) -> Failure {
        Failure::of(self.server, error)
    }

    /// Both sides are of the legacy era: requests of the server are sent to the client while the call runs.
    async fn direct(&self, context: &Context, call: &RemoteCall) -> Result<String, Failure> {
        let mut exchange = self.start(context, call, "");
        let mut answers: Vec<Pin<Box<dyn Future<Output = ()> + Send>>> = Vec::new();
        loop {
            let step = {
                let mut step = pin!(exchange.step(context));
                poll_fn(|task| {
                    let open = answers.len();
                    answers.retain_mut(|answer| answer.as_mut().poll(task).is_pending());
                    match step.as_mut().poll(task) {
                        Poll::Ready(step) => Poll::Ready(Some(step)),
                        // The timeout continues once the last question is answered.
                        Poll::Pending if open > 0 && answers.is_empty() => Poll::Ready(None),
                        Poll::Pending => Poll::Pending,
                    }
                })
                .await
            };
            match step {
                Some(Step::Done(result)) => return result.map_err(|error| self.failure(&error)),
                Some(Step::Question(question)) => {
                    exchange.pause();
                    answers.push(Box::pin(answer_directly(context.clone(), question)));
                }
                None => exchange.resume(),
            }
        }
    }

    /// The server is of the legacy era, the client of the modern one: the call waits at the server between the rounds.
    async fn waiting(&self, context: &Context, call: &RemoteCall) -> Result<String, Failure> {
        let mut started = None;
        let id: String = context
            .once("proxy.call", async {
                started = Some(self.start(context, call, ""));
                random_id().map_err(|_| AskError::NotAllowed(NO_RANDOM_BYTES.to_owned()))
            })
            .await?;
        let (mut exchange, mut number) = if let Some(exchange) = started {
            (exchange, 0)
        } else {
            let call = self.waiting.take(&id, context).ok_or_else(|| self.lost())?;
            let number = call.number;
            (self.ask(context, &id, call).await?, number)
        };
        loop {
            match exchange.step(context).await {
                Step::Done(result) => return result.map_err(|error| self.failure(&error)),
                Step::Question(question) => {
                    number += 1;
                    let call = WaitingCall::new(exchange, question, number, context);
                    exchange = self.ask(context, &id, call).await?;
                }
            }
        }
    }

    /// Asks the client the question of a call. The function is stopped for that, and the call waits.
    async fn ask(
        &self,
        context: &Context,
        id: &str,
        call: WaitingCall,
    ) -> Result<Exchange, Failure> {
        if let Err(reason) = self.waiting.check_room(&call, self.limits) {
            call.question.respond(Err(RpcError::internal(reason)));
            return Ok(call.exchange);
        }
        let (request, key) = (
            InputRequest::clone(&call.question.request),
            call.number.to_string(),
        );
        let parked = Parked::new(self.waiting, self.limits, id, call);
        let answer = context.forward(request).key(key).if_supported().await;
        let Some(call) = parked.into_call() else {
            return Err(self.lost());
        };
        respond(call.question, answer);
        Ok(call.exchange)
    }

    /// The error for a round of a call that does not wait any more.
    fn lost(&self) -> Failure {
        Failure::Server(format!(
            "the call at the server `{}` does not wait for this answer any more: it was continued already, took too long, or \
             waits at another replica of this proxy; make the call again",
            self.server
        ))
    }

    /// The server is of the modern era: it requests input as a result, and is called again with the answers.
    async fn in_rounds(&self, context: &Context, call: &RemoteCall) -> Result<String, Failure> {
        let (mut members, mut used) = (String::new(), HashSet::new());
        let rounds = context.server().limits().input_rounds;
        for number in 0..=rounds {
            // Earlier rounds are read from the state of the client, and the server is not called again for them.
            let key = format!("proxy.{number}");
            let round = context.once(&key, async {
                let exchange = self.start(context, call, &members);
                match exchange.response(context).await {
                    Ok(text) => self.read_round(text),
                    Err(error) => Err(Outcome::Failed(self.failure(&error))),
                }
            });
            match round.await {
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
