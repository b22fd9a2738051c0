//! Kinds of questions: the request for each, the capability that it needs, and how to read its answer. `elicit` has those
//! to the user.

use serde::de::DeserializeOwned;
use treenail_schema::{
    ClientCapabilities, ClientCapabilitiesRoots, ClientCapabilitiesSampling,
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    InputRequest, JsonObject, ListRootsResult, Revision, Root,
};

use crate::ask::AskError;
use crate::ask::elicit::{self, Confirm, Elicit, ElicitBySchema, ElicitUrl};
use crate::ask::sampling;

mod sealed {
    #[expect(unnameable_types, reason = "no other type can implement `Question`")]
    pub trait Sealed {}
}

impl<T> sealed::Sealed for Elicit<T> {}
impl sealed::Sealed for ElicitBySchema {}
impl sealed::Sealed for Confirm {}
impl sealed::Sealed for ElicitUrl {}
impl sealed::Sealed for Sample {}
impl sealed::Sealed for Roots {}
impl sealed::Sealed for Forward {}

/// Kind of question to a client. Sealed: the protocol defines the kinds.
pub trait Question: sealed::Sealed + Send + 'static {
    /// The answer.
    type Answer: Send;

    /// Makes the request for a client of this revision, if the client can answer it.
    #[doc(hidden)]
    fn request(
        &self,
        revision: Revision,
        client: &ClientCapabilities,
    ) -> Result<InputRequest, AskError>;

    /// Reads the answer.
    #[doc(hidden)]
    fn read(self, answer: &str) -> Result<Self::Answer, AskError>;
}

/// Asks the client's model; see [`Context::sample`](crate::Context::sample).
#[derive(Debug)]
pub struct Sample {
    pub(super) params: CreateMessageRequestParams,
}

impl Question for Sample {
    type Answer = CreateMessageResult;

    #[inline]
    fn request(
        &self,
        revision: Revision,
        client: &ClientCapabilities,
    ) -> Result<InputRequest, AskError> {
        if !sampling::takes(&self.params, revision, client) {
            let mut required = ClientCapabilitiesSampling::new();
            required.tools = sampling::needs_tools(&self.params).then(JsonObject::new);
            return Err(unsupported(
                ClientCapabilities::new().with_sampling(required),
            ));
        }
        sampling::check(&self.params)?;
        Ok(sampling::downgrade(self.params.clone(), revision, client).into())
    }

    #[inline]
    fn read(self, answer: &str) -> Result<CreateMessageResult, AskError> {
        decode(answer)
    }
}

/// Asks for the client's roots; see [`Context::roots`](crate::Context::roots).
#[derive(Debug)]
pub struct Roots;

impl Question for Roots {
    type Answer = Vec<Root>;

    fn request(&self, _: Revision, client: &ClientCapabilities) -> Result<InputRequest, AskError> {
        if client.roots.is_none() {
            let roots = ClientCapabilitiesRoots::new();
            return Err(unsupported(ClientCapabilities::new().with_roots(roots)));
        }
        Ok(InputRequest::ListRoots(None))
    }

    #[inline]
    fn read(self, answer: &str) -> Result<Vec<Root>, AskError> {
        decode::<ListRootsResult>(answer).map(|result| result.roots)
    }
}

/// Passes the request of another server on; see [`Context::forward`](crate::Context::forward).
#[derive(Debug)]
pub struct Forward {
    pub(super) request: InputRequest,
}

impl Question for Forward {
    type Answer = String;

    #[inline]
    fn request(
        &self,
        revision: Revision,
        client: &ClientCapabilities,
    ) -> Result<InputRequest, AskError> {
        match &self.request {
            InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
                let (message, schema) = (form.message.clone(), form.requested_schema.clone());
                elicit::form(message, schema, revision, client)
            }
            InputRequest::Elicit(ElicitRequestParams::Url(page)) => {
                let (message, url) = (page.message.clone(), page.url.clone());
                ElicitUrl { message, url }.request(revision, client)
            }
            InputRequest::CreateMessage(params) => {
                let mut params = params.clone();
                // Metadata belongs to one hop.
                params.meta = None;
                Sample { params }.request(revision, client)
            }
            InputRequest::ListRoots(_) => Roots.request(revision, client),
            _ => Err(AskError::NotAllowed(format!(
                "`{}` is not a request that can be passed on",
                self.request.method()
            ))),
        }
    }

    /// The answer is checked to have the form of a result of its kind. Its text stays as it is, except that strings become the
    /// lists that the form describes.
    #[inline]
    fn read(self, answer: &str) -> Result<String, AskError> {
        match &self.request {
            InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
                return elicit::read_forwarded(form, answer);
            }
            InputRequest::Elicit(_) => decode::<ElicitResult>(answer).map(drop)?,
            InputRequest::CreateMessage(_) => decode::<CreateMessageResult>(answer).map(drop)?,
            _ => decode::<ListRootsResult>(answer).map(drop)?,
        }
        Ok(answer.to_owned())
    }
}

pub(super) fn unsupported(required: ClientCapabilities) -> AskError {
    AskError::Unsupported(Box::new(required))
}

pub(super) fn decode<T: DeserializeOwned>(answer: &str) -> Result<T, AskError> {
    // serde would read an array as a struct too.
    if !answer.starts_with('{') {
        return Err(AskError::Invalid("not an object".to_owned()));
    }
    serde_json::from_str(answer).map_err(|error| AskError::Invalid(error.to_string()))
}
