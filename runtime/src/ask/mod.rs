//! Questions of a function to its client, with one interface for both eras: `requests` implements the legacy era, `round` the
//! modern one.

mod asker;
mod binding;
mod callers;
mod delivery;
mod elicit;
mod elicit_config;
mod error;
mod once;
mod question;
mod requests;
mod resumed;
mod round;
mod run;
mod sampling;
mod seal;
mod session;
mod work;

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use treenail_schema::{CreateMessageRequestParams, ElicitSchema, InputRequest};

pub(crate) use self::asker::{Asker, Level};
use self::delivery::{Sent, put};
pub use self::delivery::{ask_client, for_client};
pub use self::elicit::{Confirm, Elicit, ElicitBySchema, ElicitUrl};
pub(crate) use self::elicit_config::ElicitConfig;
pub use self::error::AskError;
pub use self::question::{Forward, Question, Roots, Sample};
pub(crate) use self::requests::Requests;
pub(crate) use self::resumed::ResumedState;
pub(crate) use self::round::Questions;
pub(crate) use self::round::Round;
pub(crate) use self::sampling::takes_tools;
pub use self::sampling::{check_messages as check_conversation, needs_tools};
pub use self::seal::RequestStateKey;
pub use self::seal::{NO_RANDOM_BYTES, SealError, random_id};
pub use self::session::{SessionPeer, session_number};
use crate::context::Context;
use crate::form::Form;

/// # Asking the client
///
/// A function may ask the client while it runs. The code is the same for all revisions.
///
/// - A client of the legacy era gets a request, and the function waits for the answer.
/// - In the modern era the function *stops* at the question. The client gets the question as the result of its request, and
///   sends the request again with the answer. The function then runs again from the start, and answered questions return at
///   once. Code before a question runs again too, so it should have no side effects, or run inside of [`Context::once`].
///
/// Questions are matched by their order, or by the key from [`Ask::key`], and by their content. Several can be asked at once,
/// for example with `tokio::try_join!`. Only functions of tools, prompts and resources can ask in the modern era, and the layers
/// around them (feature `tower`); others get [`AskError::NotAllowed`].
///
/// The state that clients carry between rounds is sealed: it is encrypted, bound to the caller, the method and the
/// arguments, and expires after [`Limits::elicitation_timeout`](crate::Limits::elicitation_timeout). A client can still use a
/// state twice. The function itself must ensure that a payment, for example, is made only once.
impl Context {
    /// Asks the user for the values of a form.
    ///
    /// Forms must not ask for passwords or other secrets; use [`Context::elicit_url`] for those.
    ///
    /// Available from revision 2025-06-18 (`elicitation/create`). Dropping the future cancels the question.
    pub fn elicit<T: Form>(&self, message: impl Into<String>) -> Ask<'_, Elicit<T>> {
        self.ask(Elicit::new(message.into()))
    }

    /// Asks for the values of a form like [`Context::elicit`], with a schema that is known only at run time.
    ///
    /// The answer has the values by the names of their fields.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use serde_json::json;
    /// use treenail::prelude::*;
    /// use treenail::schema::{ElicitSchema, ElicitValue};
    ///
    /// async fn nights(cx: &Context, most: u32) -> Result<Option<ElicitValue>, ToolError> {
    ///     let form = ElicitSchema::try_from(json!({
    ///         "type": "object",
    ///         "properties": {"nights": {"type": "integer", "minimum": 1, "maximum": most}},
    ///         "required": ["nights"],
    ///     }))?;
    ///     let mut values: BTreeMap<String, ElicitValue> = cx.elicit_schema("How long?", form).await?;
    ///     Ok(values.remove("nights"))
    /// }
    /// ```
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

    /// Asks the user to agree. The error is [`AskError::Declined`] if they do not.
    ///
    /// ```
    /// use treenail::Context;
    /// use treenail::elicit::AskError;
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

    /// Asks the user to open a page, for example to enter a secret or to pay.
    ///
    /// An answer means only that the user agreed to open the page. The program that serves the page knows the outcome. The URL
    /// must not contain a secret or sign in its visitor, and the page has to verify that its visitor is the user that was asked.
    ///
    /// Available from revision 2025-11-25 (`elicitation/create` with mode `url`).
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

    /// Asks for the directories that the client works in (`roots/list`).
    #[deprecated(
        note = "the protocol deprecates roots (SEP-2577; they may be removed from 2027-07-28 on); take paths as arguments"
    )]
    pub fn roots(&self) -> Ask<'_, Roots> {
        self.ask(Roots)
    }

    /// Passes a request of another server on to the client, for proxies. The answer is the JSON text of the client's result.
    ///
    /// The request is adapted to the revision of the client. An elicitation that the user declines is an answer here, not an
    /// error. The content of a form is not checked: the other server has to do so.
    pub fn forward(&self, request: impl Into<InputRequest>) -> Ask<'_, Forward> {
        let request = request.into();
        self.ask(Forward { request })
    }

    /// Returns `true` if a question stops the function, which then runs again with the answer: for callers of the modern era.
    /// For others, the function waits for the answer.
    ///
    /// Only a function with work in flight that it has to keep for its next run needs this.
    pub fn reruns_for_answers(&self) -> bool {
        self.state().peer.revision().is_modern() && !self.state().is_task()
    }

    fn ask<Q: Question>(&self, question: Q) -> Ask<'_, Q> {
        Ask {
            context: self,
            question,
            key: None,
        }
    }
}

/// Question to the client, made by the methods of [`Context`]. It is asked when it is awaited.
#[must_use = "a question is asked when it is awaited"]
pub struct Ask<'a, Q> {
    context: &'a Context,
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
    /// Sets a key, unique among the questions of the function and visible to clients of the modern era. Without keys, questions
    /// are numbered in order, so a function whose order may vary should set them. Clients see the prefix `function/` before a key that
    /// starts with it or with `layer-`, the prefix of the keys of layers.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Asks only a client that can answer; the result is `None` for others.
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
        let state = self.context.state();
        let peer = &state.peer;
        let answered = match self.question.request(peer.revision(), peer.capabilities()) {
            Ok(request) => put(self.context, self.key, request).await,
            Err(error) => Err(error),
        };
        let answered = answered.and_then(|answer| self.question.read(&answer));
        if peer.revision().is_modern() {
            // If the function fails because of this, the response is the error that the protocol defines.
            let response = answered.as_ref().err().and_then(AskError::response);
            if let Some(response) = response {
                state.add_named_fault(response);
            }
        }
        answered
    }
}

/// Question to a client that may not be able to answer it, made by [`Ask::if_supported`].
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
            match self.0.await {
                Err(AskError::Unsupported(_)) => Ok(None),
                answered => answered.map(Some),
            }
        })
    }
}
