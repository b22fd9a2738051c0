//! Passing on of one call: the request and its response, and the requests of the server for the client, between all eras.

mod rounds;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;

use treenail_runtime::internal::{NO_RANDOM_BYTES, random_id};
use treenail_runtime::{AskError, Context, RpcError};
use treenail_schema::InputRequest;

use crate::answer::{answer_directly, respond};
use crate::exchange::{Exchange, Step};
use crate::failure::Failure;
use crate::limits::ProxyLimits;
use crate::link::{Link, RemoteCall};
use crate::waiting::{Parked, WaitingCall, WaitingCalls};

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
            let step = poll_fn(|task| {
                let open = answers.len();
                answers.retain_mut(|answer| answer.as_mut().poll(task).is_pending());
                if open > 0 && answers.is_empty() {
                    // The last question is answered.
                    exchange.resume();
                }
                exchange.poll_step(task, context)
            });
            match step.await {
                Step::Done(result) => return result.map_err(|error| self.failure(&error)),
                Step::Question(question) => {
                    exchange.pause();
                    let revision = self.link.revision;
                    let answer = answer_directly(context.clone(), question, revision);
                    answers.push(Box::pin(answer));
                }
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
        let parked = Parked::new(self.waiting, self.limits, id, call);
        let answer = context.forward(request).key(key).if_supported().await;
        let Some(call) = parked.into_call() else {
            return Err(self.lost());
        };
        respond(call.question, answer, self.link.revision);
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
}
