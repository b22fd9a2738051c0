//! Typed reading of the members of a document.

use serde_json::{Map, Value};

use crate::AuthError;

/// Members of a document, with its name for errors.
pub(super) struct Members<'a> {
    pub(super) document: &'a str,
    members: &'a Map<String, Value>,
}

impl<'a> Members<'a> {
    pub(super) fn new(document: &'a str, members: &'a Map<String, Value>) -> Self {
        Self { document, members }
    }

    /// Returns the error of a member.
    pub(super) fn invalid(&self, member: &str, reason: &str) -> AuthError {
        AuthError::document(self.document, format!("`{member}` {reason}"))
    }

    /// Returns a member; `null` counts as absent.
    fn get(&self, member: &str) -> Option<&'a Value> {
        self.members.get(member).filter(|value| !value.is_null())
    }

    pub(super) fn string(&self, member: &str) -> Result<Option<&'a str>, AuthError> {
        let Some(value) = self.get(member) else {
            return Ok(None);
        };
        let text = value.as_str();
        text.map(Some)
            .ok_or_else(|| self.invalid(member, "must be a string; the server has to be corrected"))
    }

    pub(super) fn flag(&self, member: &str) -> Result<bool, AuthError> {
        match self.get(member) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.invalid(
                member,
                "must be `true` or `false`; the server has to be corrected",
            )),
        }
    }

    pub(super) fn strings(&self, member: &str) -> Result<Option<Vec<String>>, AuthError> {
        let Some(value) = self.get(member) else {
            return Ok(None);
        };
        let texts = value.as_array().and_then(|values| {
            let texts = values.iter().map(|value| value.as_str().map(str::to_owned));
            texts.collect()
        });
        texts.map(Some).ok_or_else(|| {
            self.invalid(
                member,
                "must be an array of strings; the server has to be corrected",
            )
        })
    }
}
