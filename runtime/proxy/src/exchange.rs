//! One request in flight at a server, with the messages that the server sends during it.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};

use tokio::sync::mpsc;
use treenail_runtime::Context;
use treenail_runtime::client::{ClientError, TransportKind};
use treenail_runtime::internal::timeout::poll_pausable;
use treenail_runtime::internal::{send_log, send_progress};

use crate::calls::CallGuard;
use crate::deadline::{Deadline, Pause};
use crate::event::{Event, Question};
use crate::limits::ProxyLimits;
use crate::link::{Link, RemoteCall, Reply, passed_notification_meta};

/// One request in flight. Dropping it cancels the request at the server.
pub(crate) struct Exchange {
    reply: Option<Reply>,
    /// The response, until the messages before it are passed on.
    response: Option<Result<String, ClientError>>,
    events: mpsc::Receiver<Event>,
    /// Message that is passed on to the caller now.
    passing: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    guard: CallGuard,
    transport: TransportKind,
    deadline: Deadline,
}

/// Next step of an exchange.
pub(crate) enum Step {
    /// The response.
    Done(Result<String, ClientError>),
    /// A request for the client.
    Question(Question),
}

impl Exchange {
    /// Sends a request for the call of `context`.
    pub(crate) fn start(
        link: &Arc<Link>,
        call: &RemoteCall,
        round: &str,
        context: &Context,
        limits: &ProxyLimits,
    ) -> Self {
        let id = link.next_id();
        let client = context.client_identity();
        let (guard, events) = link.tap.calls.register(id, client, limits.queued_messages);
        Self {
            reply: Some(link.send(id, call, round, context)),
            response: None,
            events,
            passing: None,
            guard,
            transport: link.client.session().session().transport(),
            deadline: Deadline::start(limits),
        }
    }

    /// Waits for the response of a server of the modern era, which sends no requests.
    pub(crate) async fn response(mut self, context: &Context) -> Result<String, ClientError> {
        loop {
            match self.step(context).await {
                Step::Done(result) => return result,
                Step::Question(question) => question.discard(),
            }
        }
    }

    /// Waits for the response or for a request for the client. Progress and log messages are passed on. Dropping the future loses
    /// nothing.
    pub(crate) async fn step(&mut self, context: &Context) -> Step {
        poll_fn(|task| self.poll_step(task, context)).await
    }

    /// Polls for the next step, as [`step`](Self::step).
    pub(crate) fn poll_step(
        &mut self,
        task: &mut TaskContext<'_>,
        context: &Context,
    ) -> Poll<Step> {
        loop {
            // A server that sends messages without end does not defer it.
            if self.deadline.is_over() {
                return Poll::Ready(self.timed_out(task));
            }
            match self.poll_event(task) {
                Poll::Ready(Some(Event::Question(question))) if self.response.is_none() => {
                    return Poll::Ready(Step::Question(question));
                }
                Poll::Ready(Some(event)) => {
                    if matches!(event, Event::Progress(_)) {
                        self.deadline.restart();
                    }
                    self.passing = Some(Box::pin(pass_on(event, context.clone())));
                    continue;
                }
                Poll::Ready(None) => {}
                Poll::Pending => return self.deadline.poll(task).map(|()| self.timed_out(task)),
            }
            // The messages before the response have been passed on.
            if let Some(response) = self.response.take() {
                return Poll::Ready(Step::Done(response));
            }
            if self.poll_reply(task).is_pending() {
                return self.deadline.poll(task).map(|()| self.timed_out(task));
            }
        }
    }

    /// Stops the timeout while a client is asked.
    pub(crate) fn pause(&mut self) {
        self.deadline.set_paused(Pause::Question, true);
    }

    /// Continues the timeout.
    pub(crate) fn resume(&mut self) {
        self.deadline.set_paused(Pause::Question, false);
    }

    /// Returns the next message of the server, if there is one now. It is pending while the last one is passed on.
    fn poll_event(&mut self, task: &mut TaskContext<'_>) -> Poll<Option<Event>> {
        if let Some(passing) = &mut self.passing {
            ready!(passing.as_mut().poll(task));
            self.passing = None;
        }
        if self.response.is_some() {
            return Poll::Ready(self.events.try_recv().ok());
        }
        match self.events.poll_recv(task) {
            Poll::Ready(event) => Poll::Ready(event),
            Poll::Pending => Poll::Ready(None),
        }
    }

    /// Waits for the response. The messages that the server sent before it are queued then.
    fn poll_reply(&mut self, task: &mut TaskContext<'_>) -> Poll<()> {
        let Some(reply) = &mut self.reply else {
            return Poll::Pending;
        };
        let (response, signs_in) = poll_pausable(reply.as_mut(), task);
        let signs_in = signs_in && response.is_pending();
        self.deadline.set_paused(Pause::SignIn, signs_in);
        let response = ready!(response);
        self.reply = None;
        if is_answered(&response, self.transport) {
            self.guard.finish();
        }
        self.response = Some(response);
        Poll::Ready(())
    }

    /// Ends the call, with the response if there is one. Dropping the request cancels it.
    fn timed_out(&mut self, task: &mut TaskContext<'_>) -> Step {
        // The response may wait for messages that the caller has not accepted.
        let _ = self.poll_reply(task);
        self.reply = None;
        let response = self.response.take();
        Step::Done(response.unwrap_or_else(|| Err(ClientError::Timeout(self.deadline.elapsed()))))
    }
}

/// Returns true if the server has answered, perhaps with a malformed answer. After any other failure, such as a broken connection,
/// it may still work on the call.
fn is_answered(result: &Result<String, ClientError>, transport: TransportKind) -> bool {
    match result {
        Ok(_) | Err(ClientError::Refused(_)) => true,
        // A stream finds the call of an answer by its id. Over HTTP, another message of the response may be the malformed one.
        Err(ClientError::Protocol(_) | ClientError::TooLong(_)) => transport != TransportKind::Http,
        Err(_) => false,
    }
}

/// Passes a message of the server on to the caller.
async fn pass_on(event: Event, context: Context) {
    match event {
        Event::Progress(mut params) => {
            // It may have an item of a stream.
            params.meta = params.meta.and_then(passed_notification_meta);
            send_progress(&context, params).await;
        }
        Event::Log(mut params) => {
            // It belongs to one hop.
            params.meta = None;
            send_log(&context, &params).await;
        }
        // The call has ended, so the question is refused.
        Event::Question(question) => drop(question),
    }
}
