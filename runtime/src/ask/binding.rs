//! Digests that bind what a client carries to the request and to the questions that it belongs to.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{Context, SHA256, digest};
use serde::{Deserialize, Serialize};
use treenail_schema::InputRequest;

use crate::ask::error::AskError;
use crate::wire::canonical;

/// The request that questions and answers belong to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// Who makes it, as the transport has authenticated them.
    pub(crate) principal: Option<&'a str>,
    pub(crate) method: &'a str,
    /// What is asked for: the name of a tool or prompt, or the URI of a resource.
    pub(crate) target: &'a str,
    /// The text of the object with the arguments.
    pub(crate) arguments: Option<&'a str>,
}

impl Origin<'_> {
    /// A digest of the request to the server called `server`: all that a state is bound to.
    ///
    /// The text of the arguments counts, and not what is read of it: functions may read more than a `Value` can hold, such
    /// as integers of 128 bits, and less, where a `Value` has no number as large as one that is written. Clients may write
    /// the same arguments in another order.
    pub(crate) fn scope(&self, server: &str) -> Vec<u8> {
        let arguments = self.arguments.map(|text| match canonical(text) {
            Ok(canonical) => Cow::Owned(canonical),
            Err(_) => Cow::Borrowed(text.as_bytes()),
        });
        let mut context = Context::new(&SHA256);
        let texts = [
            Some(server),
            self.principal,
            Some(self.method),
            Some(self.target),
        ];
        for part in texts {
            update(&mut context, part.map(str::as_bytes));
        }
        update(&mut context, arguments.as_deref());
        context.finish().as_ref().to_vec()
    }
}

/// Adds a part to a digest, so that no other parts make the same one.
fn update(context: &mut Context, part: Option<&[u8]>) {
    let length = part.map_or(u64::MAX, |part| part.len() as u64);
    context.update(&length.to_be_bytes());
    context.update(part.unwrap_or_default());
}

/// What tells one question from another: an answer is for the question that was asked, also if the function asks something
/// else under the same key when it runs again.
///
/// The whole digest, in base64: what a function asks may be chosen by others, and two questions with the same beginning of
/// their digests can be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct QuestionId(Box<str>);

impl QuestionId {
    pub(super) fn of(request: &InputRequest) -> Result<Self, AskError> {
        let text =
            serde_json::to_vec(request).map_err(|error| AskError::NotAllowed(error.to_string()))?;
        let digest = digest(&SHA256, &text);
        Ok(Self(URL_SAFE_NO_PAD.encode(digest).into()))
    }
}
