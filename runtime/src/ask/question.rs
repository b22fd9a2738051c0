//! Kinds of questions: the request for each, the capability that it needs, and how to read its answer.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use treenail_schema::method::{self, Direction};
use treenail_schema::{
    ClientCapabilities, ClientCapabilitiesElicitation, ClientCapabilitiesRoots,
    ClientCapabilitiesSampling, CreateMessageRequestParams, CreateMessageResult, ElicitAction,
    ElicitFormMode, ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitResult, ElicitSchema, ElicitValue, InputRequest, JsonObject, ListRootsResult, Revision,
    Root,
};

use crate::ask::AskError;
use crate::ask::sampling;
use crate::ask::seal::{NO_RANDOM_BYTES, random_id};
use crate::form::{Form, FormError, downgrade_form, parse_form_content};

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

/// Asks for the values of a [`Form`]; see [`Context::elicit`](crate::Context::elicit).
///
/// It stores the functions of `T` that it needs, so that a type that is no form gives a single error, at the call.
pub struct Elicit<T> {
    message: String,
    schema: fn() -> ElicitSchema,
    read: fn(BTreeMap<String, ElicitValue>) -> Result<T, FormError>,
}

impl<T> fmt::Debug for Elicit<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Elicit")
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

impl<T> Elicit<T> {
    pub(super) fn new(message: String) -> Self
    where
        T: Form,
    {
        Self {
            message,
            schema: T::schema,
            read: T::read,
        }
    }
}

impl<T: Send + 'static> Question for Elicit<T> {
    type Answer = T;

    fn request(
        &self,
        revision: Revision,
        client: &ClientCapabilities,
    ) -> Result<InputRequest, AskError> {
        form(self.message.clone(), (self.schema)(), revision, client)
    }

    fn read(self, answer: &str) -> Result<T, AskError> {
        (self.read)(accepted(answer)?).map_err(|error| AskError::Invalid(error.to_string()))
    }
}

/// Asks for the values of a form with a given schema; see [`Context::elicit_schema`](crate::Context::elicit_schema).
#[derive(Debug)]
pub struct ElicitBySchema {
    pub(super) message: String,
    pub(super) schema: ElicitSchema,
}

impl Question for ElicitBySchema {
    type Answer = BTreeMap<String, ElicitValue>;

    #[inline]
    fn request(
        &self,
        revision: Revision,
        client: &ClientCapabilities,
    ) -> Result<InputRequest, AskError> {
        form(self.message.clone(), self.schema.clone(), revision, client)
    }

    #[inline]
    fn read(self, answer: &str) -> Result<Self::Answer, AskError> {
        parse_form_content(&self.schema, accepted(answer)?)
            .map_err(|error| AskError::Invalid(error.to_string()))
    }
}

/// Asks for agreement; see [`Context::confirm`](crate::Context::confirm).
#[derive(Debug)]
pub struct Confirm {
    pub(super) message: String,
}

impl Question for Confirm {
    type Answer = ();

    #[inline]
    fn request(
        &self,
        revision: Revision,
        client: &ClientCapabilities,
    ) -> Result<InputRequest, AskError> {
        let nothing = ElicitSchema::default();
        form(self.message.clone(), nothing, revision, client)
    }

    #[inline]
    fn read(self, answer: &str) -> Result<(), AskError> {
        accepted(answer).map(drop)
    }
}

/// Asks the user to open a page; see [`Context::elicit_url`](crate::Context::elicit_url).
#[derive(Debug)]
pub struct ElicitUrl {
    pub(super) message: String,
    pub(super) url: String,
}

impl Question for ElicitUrl {
    type Answer = ();

    #[inline]
    fn request(
        &self,
        revision: Revision,
        client: &ClientCapabilities,
    ) -> Result<InputRequest, AskError> {
        let by_url = |elicitation: &ClientCapabilitiesElicitation| elicitation.url.is_some();
        let known = revision >= Revision::V2025_11_25;
        if !(known && client.elicitation.as_ref().is_some_and(by_url)) {
            let url = ClientCapabilitiesElicitation::new().with_url(JsonObject::new());
            return Err(unsupported(ClientCapabilities::new().with_elicitation(url)));
        }
        if let Err(error) = iri_string::types::UriStr::new(&self.url) {
            return Err(AskError::NotAllowed(format!("the URL is no URI: {error}")));
        }
        let mut params = ElicitRequestUrlParams::new(&*self.message, &*self.url);
        if !revision.is_modern() {
            let id = random_id().map_err(|_| AskError::NotAllowed(NO_RANDOM_BYTES.to_owned()))?;
            params.elicitation_id = Some(id);
        }
        Ok(ElicitRequestParams::Url(params).into())
    }

    #[inline]
    fn read(self, answer: &str) -> Result<(), AskError> {
        accepted(answer).map(drop)
    }
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
        let sampling = client.sampling.as_ref();
        let tools = sampling.is_some_and(|sampling| sampling.tools.is_some());
        let needs_tools = sampling::needs_tools(&self.params);
        if sampling.is_none() || (needs_tools && !tools) {
            let mut required = ClientCapabilitiesSampling::new();
            required.tools = needs_tools.then(JsonObject::new);
            return Err(unsupported(
                ClientCapabilities::new().with_sampling(required),
            ));
        }
        sampling::check(&self.params)?;
        let context = sampling.is_some_and(|sampling| sampling.context.is_some());
        Ok(sampling::downgrade(self.params.clone(), revision, context).into())
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
                self::form(message, schema, revision, client)
            }
            InputRequest::Elicit(ElicitRequestParams::Url(page)) => {
                let (message, url) = (page.message.clone(), page.url.clone());
                ElicitUrl { message, url }.request(revision, client)
            }
            InputRequest::CreateMessage(params) => {
                let params = params.clone();
                Sample { params }.request(revision, client)
            }
            InputRequest::ListRoots(_) => Roots.request(revision, client),
            _ => Err(AskError::NotAllowed(format!(
                "`{}` is not a request that can be passed on",
                self.request.method()
            ))),
        }
    }

    /// The answer is checked to have the form of a result of its kind. Its text stays as it is.
    #[inline]
    fn read(self, answer: &str) -> Result<String, AskError> {
        match &self.request {
            InputRequest::Elicit(_) => decode::<ElicitResult>(answer).map(drop)?,
            InputRequest::CreateMessage(_) => decode::<CreateMessageResult>(answer).map(drop)?,
            _ => decode::<ListRootsResult>(answer).map(drop)?,
        }
        Ok(answer.to_owned())
    }
}

/// Makes the request for a form. The client must have declared forms, or elicitation without any mode.
#[inline]
fn form(
    message: String,
    schema: ElicitSchema,
    revision: Revision,
    client: &ClientCapabilities,
) -> Result<InputRequest, AskError> {
    let by_form = |elicitation: &ClientCapabilitiesElicitation| {
        elicitation.form.is_some() || elicitation.url.is_none()
    };
    let known = method::facts("elicitation/create", Direction::ServerToClient)
        .is_some_and(|it| it.revisions.contains(revision) || it.embedded.contains(revision));
    if !(known && client.elicitation.as_ref().is_some_and(by_form)) {
        let form = ClientCapabilitiesElicitation::new();
        return Err(unsupported(
            ClientCapabilities::new().with_elicitation(form),
        ));
    }
    let mut params = ElicitRequestFormParams::new(message, downgrade_form(schema, revision));
    params.mode = (revision >= Revision::V2025_11_25).then_some(ElicitFormMode::Form);
    Ok(ElicitRequestParams::Form(params).into())
}

fn unsupported(required: ClientCapabilities) -> AskError {
    AskError::Unsupported(Box::new(required))
}

/// Returns the content of an accepted elicitation.
#[inline]
fn accepted(answer: &str) -> Result<BTreeMap<String, ElicitValue>, AskError> {
    let result: ElicitResult = decode(answer)?;
    match result.action {
        ElicitAction::Accept => Ok(result.content.unwrap_or_default()),
        ElicitAction::Decline => Err(AskError::Declined),
        _ => Err(AskError::Cancelled),
    }
}

fn decode<T: DeserializeOwned>(answer: &str) -> Result<T, AskError> {
    // serde would read an array as a struct too.
    if !answer.starts_with('{') {
        return Err(AskError::Invalid("not an object".to_owned()));
    }
    serde_json::from_str(answer).map_err(|error| AskError::Invalid(error.to_string()))
}
