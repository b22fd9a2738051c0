//! Delivery of a question to the client, and the wait for its answer.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::timeout;
use treenail_schema::{
    CancelledNotification, CancelledNotificationParams, ElicitRequestParams, InputRequest,
};

use crate::ask::binding::QuestionId;
use crate::ask::callers::ValueKey;
use crate::ask::elicit::{takes_forms, takes_urls};
use crate::ask::error::AskError;
use crate::ask::requests::PendingReply;
use crate::ask::round::{Asked, OpenQuestion, Round};
use crate::ask::sampling;
use crate::ask::work::Work;
use crate::call::CallState;
use crate::context::Context;
use crate::outbox::{Outbox, notification};
use crate::task::{TaskLink, TaskQuestion};

/// Puts a question to the client.
pub(super) async fn put(
    context: &Context,
    key: Option<String>,
    request: InputRequest,
) -> Result<Box<str>, AskError> {
    let state = context.state();
    if Work::is_polled(state) {
        return Err(not_allowed("a question is inside of the work of `once`"));
    }
    let is_modern = state.peer.revision().is_modern();
    let round = state.round().filter(|_| is_modern || state.is_task());
    let Some(round) = round else {
        if is_modern {
            return Err(not_allowed(
                "this revision has questions only in results of `tools/call`, `prompts/get` and `resources/read`",
            ));
        }
        return by_request(state, &request).await;
    };
    let level = context.asker().level;
    let key = round.key(level, key)?;
    admit(context, round, ValueKey::Answer(&key))?;
    if !state.is_task() {
        match round.answer(level, &key, &request)? {
            Asked::Answered(answer) => return Ok(answer.into()),
            Asked::Open(open) => until_task(state, open).await?,
        }
    }
    match state.link() {
        Some(link) => in_task(state, Arc::clone(link), key, request).await,
        None => Err(AskError::Closed),
    }
}

/// Waits until the function is stopped, unless its call becomes a task first.
async fn until_task(state: &CallState, open: OpenQuestion<'_>) -> Result<(), AskError> {
    let stopped = state.finished_or_task();
    if !open.waits {
        stopped.await;
        return Ok(());
    }
    // The function may have stopped polling the work.
    let waited = timeout(state.server.elicit_config().timeout(), stopped).await;
    waited.map_err(|_| AskError::TimedOut)
}

/// Rejects a value that another caller has obtained in an earlier round. If the function fails then, so does the request.
#[inline]
pub(super) fn admit(context: &Context, round: &Round, value: ValueKey<'_>) -> Result<(), AskError> {
    round.admit(context.asker(), value).map_err(|error| {
        let message = error.message.to_string();
        context.state().set_fault(error);
        AskError::NotAllowed(message)
    })
}

fn not_allowed(reason: &str) -> AskError {
    AskError::NotAllowed(reason.to_owned())
}

/// Asks the client of a task.
async fn in_task(
    state: &CallState,
    link: Arc<dyn TaskLink>,
    key: String,
    request: InputRequest,
) -> Result<Box<str>, AskError> {
    let question = TaskQuestion {
        key,
        id: QuestionId::of(&request)?.as_str().to_owned(),
        request,
    };
    let answer = until_finished(state, link.ask(question)).await?;
    Ok(answer.into())
}

/// Sends the client a request, and waits for its response.
async fn by_request(state: &CallState, request: &InputRequest) -> Result<Box<str>, AskError> {
    let mut sent = Sent {
        outbox: state.outbox(),
        reply: state.outbox().requests().open().await?,
        in_outbox: false,
    };
    let message = sent.reply.message(request)?;
    if !state.send_message(message).await {
        return Err(AskError::Closed);
    }
    sent.in_outbox = true;
    let timeout = timeout(
        state.server.elicit_config().timeout(),
        sent.reply.response(),
    );
    let answered = async { timeout.await.unwrap_or(Err(AskError::TimedOut)) };
    until_finished(state, answered).await
}

/// Sends a client of the legacy era a request that is complete already, and returns the text of its result.
#[doc(hidden)]
pub async fn ask_client(context: &Context, request: &InputRequest) -> Result<Box<str>, AskError> {
    by_request(context.state(), request).await
}

/// Returns a complete request in the form of the revision of a call's client, if the client has declared the capabilities that it needs
/// there.
#[doc(hidden)]
#[inline]
pub fn for_client(context: &Context, request: InputRequest) -> Option<InputRequest> {
    let peer = &context.state().peer;
    let (revision, client) = (peer.revision(), peer.capabilities());
    let can_answer = match &request {
        InputRequest::Elicit(ElicitRequestParams::Form(_)) => takes_forms(revision, client),
        InputRequest::Elicit(ElicitRequestParams::Url(_)) => takes_urls(revision, client),
        InputRequest::CreateMessage(params) => sampling::takes(params, revision, client),
        InputRequest::ListRoots(_) => client.roots.is_some(),
        _ => false,
    };
    can_answer.then(|| match request {
        InputRequest::CreateMessage(params) => sampling::downgrade(params, revision, client).into(),
        other => other,
    })
}

/// Waits for an answer, at most until the end of the call.
async fn until_finished<T>(
    state: &CallState,
    answered: impl Future<Output = Result<T, AskError>>,
) -> Result<T, AskError> {
    let (mut answered, mut finished) = (pin!(answered), pin!(state.finished()));
    poll_fn(|context| match answered.as_mut().poll(context) {
        Poll::Ready(answered) => Poll::Ready(answered),
        Poll::Pending => finished
            .as_mut()
            .poll(context)
            .map(|()| Err(AskError::Closed)),
    })
    .await
}

/// Request to the client. Dropping it after it was sent and before the response sends a cancellation.
pub(super) struct Sent<'a> {
    pub(super) outbox: &'a Outbox,
    pub(super) reply: PendingReply<'a>,
    pub(super) in_outbox: bool,
}

impl Drop for Sent<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.in_outbox && self.reply.is_open() {
            let id = i64::try_from(self.reply.id()).unwrap_or_default();
            let params = CancelledNotificationParams::new().with_request_id(id);
            self.outbox
                .try_send(notification::<CancelledNotification>(&params));
        }
    }
}
