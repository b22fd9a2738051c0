//! Questions to the user: forms, agreement, and pages to open.

use std::collections::BTreeMap;
use std::fmt;

use treenail_schema::method::{self, Direction};
use treenail_schema::{
    ClientCapabilities, ClientCapabilitiesElicitation, ElicitAction, ElicitFormMode,
    ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams, ElicitResult,
    ElicitSchema, ElicitValue, InputRequest, JsonObject, Revision,
};

use crate::ask::AskError;
use crate::ask::question::{Question, decode, unsupported};
use crate::ask::seal::{NO_RANDOM_BYTES, random_id};
use crate::form::{
    Form, FormError, check_defaults, downgrade_form, parse_choice_lists, parse_form_content,
};

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
        let schema = (self.schema)();
        check_defaults(&schema).map_err(AskError::NotAllowed)?;
        form(self.message.clone(), schema, revision, client)
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
        check_defaults(&self.schema).map_err(AskError::NotAllowed)?;
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
        if !takes_urls(revision, client) {
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

/// Returns `true` if a client can show forms: it has declared them, or elicitation without any mode.
#[inline]
pub(super) fn takes_forms(revision: Revision, client: &ClientCapabilities) -> bool {
    let known = method::facts("elicitation/create", Direction::ServerToClient)
        .is_some_and(|it| it.revisions.contains(revision) || it.embedded.contains(revision));
    let elicitation = client.elicitation.as_ref().filter(|_| known);
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Returns `true` if a client can open pages. Revisions before 2025-11-25 have none, whatever the client declares.
#[inline]
pub(super) fn takes_urls(revision: Revision, client: &ClientCapabilities) -> bool {
    let elicitation = client.elicitation.as_ref();
    revision >= Revision::V2025_11_25 && elicitation.is_some_and(|modes| modes.url.is_some())
}

/// Makes the request for a form, if the client can show it.
#[inline]
pub(super) fn form(
    message: String,
    schema: ElicitSchema,
    revision: Revision,
    client: &ClientCapabilities,
) -> Result<InputRequest, AskError> {
    if !takes_forms(revision, client) {
        let form = ClientCapabilitiesElicitation::new();
        return Err(unsupported(
            ClientCapabilities::new().with_elicitation(form),
        ));
    }
    let mut params = ElicitRequestFormParams::new(message, downgrade_form(schema, revision));
    params.mode = (revision >= Revision::V2025_11_25).then_some(ElicitFormMode::Form);
    Ok(ElicitRequestParams::Form(params).into())
}

/// Reads the answer to a form that is passed on. Clients of revisions without multiple choice send a string for it, which becomes
/// a list again.
#[inline]
pub(super) fn read_forwarded(
    form: &ElicitRequestFormParams,
    answer: &str,
) -> Result<String, AskError> {
    let mut result: ElicitResult = decode(answer)?;
    let accepted = result.action == ElicitAction::Accept;
    let content = result.content.as_mut().filter(|_| accepted);
    if !content.is_some_and(|content| parse_choice_lists(&form.requested_schema, content)) {
        return Ok(answer.to_owned());
    }
    serde_json::to_string(&result).map_err(|error| AskError::Invalid(error.to_string()))
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
