//! Passing on of one call: the request and its response, and the requests of the server for the client, between all eras.

mod rounds;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use treenail_runtime::internal::{NO_RANDOM_BYTES, random_id, recall};
use treenail_runtime::{AskError, Context, RpcError};
use treenail_schema::InputRequest;

use self::rounds::round_key;
use crate::answer::{answer_directly, respond, unless_cancelled};
use crate::exchange::{Exchange, Step};
use crate::failure::Failure;
use crate::limits::ProxyLimits;
use crate::link::{Link, RemoteCall};
use crate::race::race;
use crate::waiting::{Parked, WaitingCall, WaitingCalls};

/// Key of the recorded id of a call that waits at a server of the legacy era.
const WAITING_CALL: &str = "proxy.call";

/// Answer to a question, which the client has not given yet.
struct OpenAnswer {
    /// Set if the server names the call of the question.
    is_related: bool,
    answer: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Answers that are open during one call.
#[derive(Default)]
struct OpenAnswers(Vec<OpenAnswer>);

impl OpenAnswers {
    /// Polls all answers. Ready once none is open.
    fn poll(&mut self, task: &mut TaskContext<'_>) -> Poll<()> {
        self.0
            .retain_mut(|open| open.answer.as_mut().poll(task).is_pending());
        if self.0.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

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
        // The earlier rounds of a call may be those of a server of the other era. It is not made again at its successor.
        let reruns = context.reruns_for_answers();
        let is_waiting = reruns && recall(context, WAITING_CALL).is_some();
        if self.link.revision.is_modern() && !is_waiting {
            self.in_rounds(context, call).await
        } else if !reruns {
            self.direct(context, call).await
        } else if recall(context, &round_key(0)).is_some() {
            Err(self.lost())
        } else {
            self.waiting(context, call).await
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
        let mut open = OpenAnswers::default();
        loop {
            let step = poll_fn(|task| {
                let has_open = !open.0.is_empty();
                if has_open && open.poll(task).is_ready() {
                    // The last question is answered.
                    exchange.resume();
                }
                exchange.poll_step(task, context)
            });
            match step.await {
                Step::Done(result) => {
                    // The call is not in flight any more.
                    drop(exchange);
                    self.answer_for_others(context, open).await;
                    return result.map_err(|error| self.failure(&error));
                }
                Step::Question(question) => {
                    exchange.pause();
                    let is_related = question.is_related;
                    let revision = self.link.revision;
                    let answer = answer_directly(context.clone(), question, revision);
                    let answer = Box::pin(answer);
                    open.0.push(OpenAnswer { is_related, answer });
                }
            }
        }
    }

    /// Waits for the answers to the questions that may belong to another call of the client, while there is one: a server over a
    /// stream does not name the call.
    async fn answer_for_others(&self, context: &Context, mut open: OpenAnswers) {
        open.0.retain(|open| !open.is_related);
        let client = context.client_identity();
        let others = self.link.tap.calls.finished_of(&client);
        race(poll_fn(|task| open.poll(task)), others).await;
    }

    /// The server is of the legacy era, the client of the modern one: the call waits at the server between the rounds.
    async fn waiting(&self, context: &Context, call: &RemoteCall) -> Result<String, Failure> {
        let mut started = None;
        let id: String = context
            .once(WAITING_CALL, async {
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
                    let call = WaitingCall::new(exchange, question, number, (self.link, context));
                    exchange = match self.waiting.check_room(&call, self.limits) {
                        Ok(()) => self.ask(context, &id, call).await?,
                        Err(reason) => {
                            call.question.respond(Err(RpcError::internal(reason)));
                            call.exchange
                        }
                    };
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
        let (request, key) = (
            InputRequest::clone(&call.question.request),
            call.number.to_string(),
        );
        let mut parked = Parked::new(self.waiting, self.limits, context, id, call);
        let asked = async { context.forward(request).key(key).if_supported().await };
        let answer = match parked.call() {
            Some(call) => unless_cancelled(&mut call.question, asked).await,
            None => None,
        };
        let call = parked.into_call().ok_or_else(|| self.lost())?;
        match answer {
            Some(answer) => respond(call.question, answer, self.link.revision),
            None => call.question.discard(),
        }
        Ok(call.exchange)
    }

    /// The error for a round of a call that does not wait any more.
    fn lost(&self) -> Failure {
        Failure::Server(format!(
            "the call at the server `{}` does not wait for this answer any more: it was continued already, took too long, ended \
             with a restart of the server, or waits at another replica of this proxy; make the call again",
            self.server
        ))
    }
}
