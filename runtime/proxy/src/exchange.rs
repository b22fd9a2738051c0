//! One request in flight at a server, with the messages that the server sends during it.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep_until};
use treenail_runtime::Context;
use treenail_runtime::client::{ClientError, TransportKind};

use crate::calls::CallGuard;
use crate::event::{Event, Question};
use crate::limits::ProxyLimits;
use crate::link::{Link, RemoteCall, Reply};

/// One request in flight. Dropping it cancels the request at the server.
pub(crate) struct Exchange {
    reply: Option<Reply>,
    events: mpsc::Receiver<Event>,
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
            events,
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

    /// Waits for the response or for a request for the client. Progress and log messages are passed on.
    pub(crate) async fn step(&mut self, context: &Context) -> Step {
        loop {
            match poll_fn(|task| self.poll(task)).await {
                Polled::Event(Event::Question(question)) => return Step::Question(question),
                Polled::Event(event) => {
                    self.deadline.restart();
                    pass_on(event, context).await;
                }
                Polled::Done(result) => {
                    // They were sent before the response.
                    while let Ok(event) = self.events.try_recv() {
                        pass_on(event, context).await;
                    }
                    return Step::Done(result);
                }
            }
        }
    }

    /// Stops the timeout while a client is asked.
    pub(crate) fn pause(&mut self) {
        self.deadline.pause();
    }

    /// Continues the timeout.
    pub(crate) fn resume(&mut self) {
        self.deadline.resume();
    }

    fn poll(&mut self, task: &mut TaskContext<'_>) -> Poll<Polled> {
        if let Poll::Ready(Some(event)) = self.events.poll_recv(task) {
            return Poll::Ready(Polled::Event(event));
        }
        if let Some(reply) = &mut self.reply {
            if let Poll::Ready(result) = reply.as_mut().poll(task) {
                self.reply = None;
                if is_answered(&result, self.transport) {
                    self.guard.finish();
                }
                return Poll::Ready(Polled::Done(result));
            }
            if self.deadline.poll(task).is_ready() {
                // Dropping the request cancels it.
                self.reply = None;
                let after = self.deadline.elapsed();
                return Poll::Ready(Polled::Done(Err(ClientError::Timeout(after))));
            }
        }
        Poll::Pending
    }
}

/// Returns true if the server has answered, perhaps with a malformed answer. After any other failure, such as a broken connection,
/// it may still work on the call.
fn is_answered(result: &Result<String, ClientError>, transport: TransportKind) -> bool {
    match result {
        Ok(_) | Err(ClientError::Refused(_)) => true,
        // A stream finds the call of an answer by its id. Over HTTP, another message of the response may be the malformed one.
        Err(ClientError::Protocol(_)) => transport == TransportKind::Stream,
        Err(_) => false,
    }
}

enum Polled {
    Event(Event),
    Done(Result<String, ClientError>),
}

/// Passes a message of the server on to the caller.
async fn pass_on(event: Event, context: &Context) {
    match event {
        Event::Progress(params) => {
            let mut progress = context.progress(params.progress);
            if let Some(total) = params.total {
                progress = progress.total(total);
            }
            if let Some(message) = params.message {
                progress = progress.message(message);
            }
            progress.await;
        }
        #[expect(deprecated, reason = "a proxy passes on what servers still send")]
        Event::Log(params) => context.log(params.level, params.data).await,
        // The call has ended, so the question is refused.
        Event::Question(question) => drop(question),
    }
}

/// Deadline of a request, which progress restarts.
struct Deadline {
    timeout: Duration,
    /// Latest end.
    latest: Instant,
    started: Instant,
    sleep: Pin<Box<Sleep>>,
    paused: Option<Instant>,
}

impl Deadline {
    fn start(limits: &ProxyLimits) -> Self {
        let started = Instant::now();
        let latest = after(started, limits.call_duration.max(limits.call_timeout));
        let next = after(started, limits.call_timeout);
        Self {
            timeout: limits.call_timeout,
            latest,
            started,
            sleep: Box::pin(sleep_until(next)),
            paused: None,
        }
    }

    fn restart(&mut self) {
        let next = after(Instant::now(), self.timeout).min(self.latest);
        self.sleep.as_mut().reset(next);
    }

    fn pause(&mut self) {
        self.paused.get_or_insert_with(Instant::now);
    }

    fn resume(&mut self) {
        if let Some(paused) = self.paused.take() {
            let pause = paused.elapsed();
            self.latest = after(self.latest, pause);
            let next = after(self.sleep.deadline(), pause);
            self.sleep.as_mut().reset(next);
        }
    }

    fn poll(&mut self, task: &mut TaskContext<'_>) -> Poll<()> {
        if self.paused.is_some() {
            return Poll::Pending;
        }
        self.sleep.as_mut().poll(task)
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Returns the time after a duration, or the far future.
fn after(start: Instant, duration: Duration) -> Instant {
    treenail_runtime::internal::deadline::from(start, duration)
}
