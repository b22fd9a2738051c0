//! Digests that bind the state a client carries to its request and to its questions.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{Context, SHA256, digest};
use serde::{Deserialize, Serialize};
use treenail_schema::{ElicitRequestParams, InputRequest, Method};

use crate::ask::error::AskError;
use crate::call::CallTarget;
use crate::wire::canonical;

/// Returns a digest of the request `target` to the server called `server`: the scope that a state is bound to.
///
/// The digest covers the text of the arguments, not their values as a `Value`. Functions may read more than a `Value` can hold,
/// such as integers of 128 bits, and a `Value` cannot hold every number that can be written. Clients may write the members of
/// the arguments in another order.
pub(super) fn scope(server: &str, target: CallTarget<'_>) -> Vec<u8> {
    let arguments = target.arguments.map(|text| match canonical(text) {
        Ok(canonical) => Cow::Owned(canonical),
        Err(_) => Cow::Borrowed(text.as_bytes()),
    });
    let mut context = Context::new(&SHA256);
    let texts = [
        Some(server),
        target.principal,
        target.method.map(Method::as_str),
        Some(target.name),
    ];
    for part in texts {
        update(&mut context, part.map(str::as_bytes));
    }
    update(&mut context, arguments.as_deref());
    context.finish().as_ref().to_vec()
}

/// Adds a part to a digest with its length, so that other parts cannot have the same digest.
fn update(context: &mut Context, part: Option<&[u8]>) {
    let length = part.map_or(u64::MAX, |part| part.len() as u64);
    context.update(&length.to_be_bytes());
    context.update(part.unwrap_or_default());
}

/// Digest of a question. An answer counts only for the question that was asked, even if the function asks another one under
/// the same key when it runs again.
///
/// The whole digest, in base64: others may choose the text of a question, and could find two questions whose digests share a
/// prefix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct QuestionId(Box<str>);

impl QuestionId {
    /// Returns the digest of a question. The random id of a page is no part of it: each run of the function makes another one.
    #[inline]
    pub(super) fn of(request: &InputRequest) -> Result<Self, AskError> {
        let text = serde_json::to_string(&*without_elicitation_id(request));
        let text = text.map_err(|error| AskError::NotAllowed(error.to_string()))?;
        Ok(Self::of_text(&text))
    }

    /// Returns the digest of a question as it is written.
    pub(super) fn of_text(request: &str) -> Self {
        let digest = digest(&SHA256, request.as_bytes());
        Self(URL_SAFE_NO_PAD.encode(digest).into())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[inline]
fn without_elicitation_id(request: &InputRequest) -> Cow<'_, InputRequest> {
    match request {
        InputRequest::Elicit(ElicitRequestParams::Url(page)) if page.elicitation_id.is_some() => {
            let mut page = page.clone();
            page.elicitation_id = None;
            Cow::Owned(ElicitRequestParams::Url(page).into())
        }
        _ => Cow::Borrowed(request),
    }
}
