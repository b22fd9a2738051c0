//! Asking the client from inside a function, written once for both eras: `requests` is how the legacy era asks, `round` how
//! the modern one does.

mod binding;
mod error;
mod question;
mod requests;
mod round;
mod sampling;
mod seal;

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use treenail_schema::{
    CancelledNotification, CancelledNotificationParams, CreateMessageRequestParams, ElicitSchema,
    InputRequest,
};

pub(crate) use self::binding::Origin;
pub use self::error::AskError;
pub use self::question::{Confirm, Elicit, ElicitBySchema, ElicitUrl, Question, Roots, Sample};
pub(crate) use self::requests::Requests;
use self::requests::Waiting;
pub use self::round::Round;
pub(crate) use self::round::{Asker, Resumed};
pub use self::sampling::{check_messages as check_conversation, needs_tools};
pub use self::seal::RequestStateKey;
pub(crate) use self::seal::{random, random_id};
use crate::call::CallState;
use crate::context::Context;
use crate::form::Form;
use crate::outbox::{Outbox, notification};
use crate::wire::raw_json;

/// # Asking the client
///
/// A function may ask the client while it runs; what is written is the same for all revisions.
///
/// - A client of the legacy era gets a request, and the function waits for the answer.
/// - In the modern era the function *stops* where it asks. The client gets the question as the result of its request, makes
///   the request again with the answer, and the function runs again from its beginning; questions that have been answered
///   are answered at once. What the function does before a question is done again, so it should be free of side effects,
///   or stand in [`Context::once`].
///
/// Questions are matched by their order, or by the key that [`Ask::key`] gives them, and by what they ask. Several can be
/// asked at once, for example with `tokio::try_join!`.
///
/// What clients carry from one round to the next is sealed: it is encrypted, bound to the caller, the method and the
/// arguments, and expires after [`Limits::elicitation_timeout`](crate::Limits::elicitation_timeout). That does not keep a client from
/// using a state twice; where something must not happen twice, for example a payment, the function has to see to that.
impl Context {
    /// Asks the user for the values of a form.
    ///
    /// Forms must not ask for passwords or other secrets; for those there is [`Context::elicit_url`].
    ///
    /// Known from revision 2025-06-18 on (`elicitation/create`). Dropping the future takes the question back.
    pub fn elicit<T: Form>(&self, message: impl Into<String>) -> Ask<'_, Elicit<T>> {
        self.ask(Elicit::new(message.into()))
    }

    /// As [`Context::elicit`], for a form that is known only when the program runs.
    pub fn elicit_schema(
        &self,
        message: impl Into<String>,
        schema: impl Into<ElicitSchema>,
    ) -> Ask<'_, ElicitBySchema> {
        self.ask(ElicitBySchema {
            message: message.into(),
            schema: schema.into(),
        })
    }

    /// Asks the user to agree; [`AskError::Declined`] if they do not.
    ///
    /// ```
    /// use treenail_runtime::{AskError, Context};
    ///
    /// async fn forget(cx: &Context, place: String) -> Result<(), AskError> {
    ///     cx.confirm(format!("Delete {place}?")).await?;
    ///     Ok(()) // and delete it
    /// }
    /// ```
    pub fn confirm(&self, message: impl Into<String>) -> Ask<'_, Confirm> {
        let message = message.into();
        self.ask(Confirm { message })
    }

    /// Asks the user to open a page, for example in order to enter a secret or to pay there.
    ///
    /// That it is answered means only that the user agreed to open the page: whether they did there what they should is for
    /// the program that serves it to know. The URL must not carry anything secret or sign anyone in, and the page has to
    /// make sure that who opens it is who was asked.
    ///
    /// Known from revision 2025-11-25 on (`elicitation/create` with mode `url`).
    pub fn elicit_url(
        &self,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Ask<'_, ElicitUrl> {
        self.ask(ElicitUrl {
            message: message.into(),
            url: url.into(),
        })
    }

    /// Asks the client's language model (`sampling/createMessage`).
    #[deprecated(
        note = "the protocol deprecates sampling (SEP-2577; it may be removed from 2027-07-28 on); call a model of your own"
    )]
    pub fn sample(&self, params: CreateMessageRequestParams) -> Ask<'_, Sample> {
        self.ask(Sample { params })
    }

    /// Asks in which directories the client works (`roots/list`).
    #[deprecated(
        note = "the protocol deprecates roots (SEP-2577; they may be removed from 2027-07-28 on); take paths as arguments"
    )]
    pub fn roots(&self) -> Ask<'_, Roots> {
        self.ask(Roots)
    }

    /// Does `work` once, however often the function runs in order to ask: in later rounds its value is taken from the state
    /// that the client carries. A failure is not kept.
    ///
    /// `key` tells it from other work of the same function. The value counts against
    /// [`Limits::request_state_bytes`](crate::Limits::request_state_bytes).
    ///
    /// ```
    /// # async fn reserve(_: &str) -> Result<u64, AskError> { Ok(7) }
    /// use treenail_runtime::{AskError, Context};
    ///
    /// async fn book(cx: &Context, room: String) -> Result<u64, AskError> {
    ///     let number = cx.once("reserve", reserve(&room)).await?;
    ///     cx.confirm(format!("Room {room} is reserved under {number}. Book it?")).await?;
    ///     Ok(number)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of `work`; [`AskError::Invalid`] if the value that was kept cannot be read as a `T` any more.
    pub async fn once<T, E>(
        &self,
        key: &str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<AskError>,
    {
        let round = self.state().round();
        if let Some(done) = round.and_then(|round| round.done(key)) {
            let read = serde_json::from_str(done.get());
            return read.map_err(|error| AskError::Invalid(format!("`{key}`: {error}")).into());
        }
        let value = work.await?;
        if let Some(round) = round {
            let text = raw_json(&value)
                .map_err(|error| AskError::NotAllowed(format!("`{key}`: {error}")))?;
            round.keep(key, text);
        }
        Ok(value)
    }

    fn ask<Q: Question>(&self, question: Q) -> Ask<'_, Q> {
        Ask {
            state: self.state(),
            question,
            key: None,
        }
    }
}

/// A question to the client; awaiting it asks it. Made by the methods of [`Context`].
#[must_use = "a question is asked when it is awaited"]
pub struct Ask<'a, Q> {
    state: &'a Arc<CallState>,
    question: Q,
    key: Option<String>,
}

impl<Q: fmt::Debug> fmt::Debug for Ask<'_, Q> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Ask")
            .field("question", &self.question)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl<'a, Q: Question> Ask<'a, Q> {
    /// Names the question among those of its function; clients of the modern era see the name. Without one, questions are
    /// numbered in the order in which they are asked, so a function whose order may change should name them.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Asks only a client that can answer: `None` if it cannot.
    pub fn if_supported(self) -> AskIfSupported<'a, Q> {
        AskIfSupported(self)
    }
}

impl<'a, Q: Question> IntoFuture for Ask<'a, Q> {
    type Output = Result<Q::Answer, AskError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<Q: Question> Ask<'_, Q> {
    async fn run(self) -> Result<Q::Answer, AskError> {
        let (state, peer) = (self.state, &self.state.peer);
        let answered = match self.question.request(peer.revision(), peer.capabilities()) {
            Ok(request) => match state.round() {
                Some(round) => in_round(state, round, self.key, request).await,
                None => by_request(state, &request).await,
            },
            Err(error) => Err(error),
        };
        let answered = answered.and_then(|answer| self.question.read(&answer));
        if peer.revision().is_modern() {
            // If the function fails for this, the client is told in the protocol's own way.
            state.set_fault(answered.as_ref().err().and_then(AskError::answer));
        }
        answered
    }
}

/// Takes the answer that the client has brought, or waits until the function has been stopped.
async fn in_round(
    state: &CallState,
    round: &Round,
    key: Option<String>,
    request: InputRequest,
) -> Result<Box<str>, AskError> {
    if let Some(answer) = round.answer(key, request)? {
        return Ok(answer.into());
    }
    state.ended().await;
    Err(AskError::Closed)
}

/// Sends the client a request, and waits for its answer.
async fn by_request(state: &CallState, request: &InputRequest) -> Result<Box<str>, AskError> {
    let mut sent = Sent {
        outbox: state.outbox(),
        waiting: state.outbox().requests().open().await,
    };
    let message = sent.waiting.message(request)?;
    if !state.send_message(message).await {
        return Err(AskError::Closed);
    }
    let mut answered = pin!(timeout(
        state.server.asker().within(),
        sent.waiting.answer()
    ));
    let mut ended = pin!(state.ended());
    poll_fn(|context| match answered.as_mut().poll(context) {
        Poll::Ready(answered) => Poll::Ready(answered.unwrap_or(Err(AskError::TimedOut))),
        Poll::Pending => ended.as_mut().poll(context).map(|()| Err(AskError::Closed)),
    })
    .await
}

/// A request on its way; if it is dropped before it is answered, the client is told that nobody waits any more.
struct Sent<'a> {
    outbox: &'a Outbox,
    waiting: Waiting<'a>,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        if self.waiting.is_open() {
            let id = i64::try_from(self.waiting.id()).unwrap_or_default();
            let params = CancelledNotificationParams::new().with_request_id(id);
            self.outbox
                .offer(notification::<CancelledNotification>(&params));
        }
    }
}

/// A question to a client that may not be able to answer it. Made by [`Ask::if_supported`].
#[must_use = "a question is asked when it is awaited"]
pub struct AskIfSupported<'a, Q>(Ask<'a, Q>);

impl<Q: fmt::Debug> fmt::Debug for AskIfSupported<'_, Q> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("AskIfSupported")
            .field(&self.0)
            .finish()
    }
}

impl<'a, Q: Question> IntoFuture for AskIfSupported<'a, Q> {
    type Output = Result<Option<Q::Answer>, AskError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let state = self.0.state;
            match self.0.await {
                Err(AskError::Unsupported(_)) => {
                    // The function goes on without, so what it may fail with later has another cause.
                    state.set_fault(None);
                    Ok(None)
                }
                answered => answered.map(Some),
            }
        })
    }
}
