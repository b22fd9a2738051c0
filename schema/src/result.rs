//! What all results have in common, and results that may be requests for input instead.

use std::fmt;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::{InputRequiredResult, Revision};

/// Whether a request is finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum ResultType {
    /// It is; so it is when nothing is said.
    #[default]
    Complete,
    /// The server needs input first.
    InputRequired,
    /// What an extension defines.
    Other(String),
}

impl ResultType {
    /// The value as it is written in JSON.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Complete => "complete",
            Self::InputRequired => "input_required",
            Self::Other(other) => other,
        }
    }
}

impl fmt::Display for ResultType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<String> for ResultType {
    fn from(value: String) -> Self {
        match value.as_str() {
            "complete" => Self::Complete,
            "input_required" => Self::InputRequired,
            _ => Self::Other(value),
        }
    }
}

impl From<ResultType> for String {
    fn from(value: ResultType) -> Self {
        match value {
            ResultType::Other(other) => other,
            known => known.as_str().to_owned(),
        }
    }
}

/// A result of any request.
pub trait ResultObject {
    /// Sets what `revision` requires of every result, and removes what it does not know of that:
    /// `resultType`, `ttlMs` and `cacheScope`. Values that are set already stay.
    fn conform_to(&mut self, revision: Revision) {
        let _ = revision;
    }
}

/// Fills in a member where a revision requires it, and takes it away where it is not known.
pub(crate) fn require<T: Default>(member: &mut Option<T>, required: bool) {
    if required {
        member.get_or_insert_default();
    } else {
        *member = None;
    }
}

/// The answer to a request for which a server may need input first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "most results are about as large")]
pub enum MaybeInputRequired<T> {
    /// The request is finished.
    Complete(T),
    /// The server needs input; the request is to be repeated with it.
    InputRequired(InputRequiredResult),
}

impl<T> MaybeInputRequired<T> {
    /// The result, if the request is finished.
    pub fn complete(self) -> Option<T> {
        match self {
            Self::Complete(result) => Some(result),
            Self::InputRequired(_) => None,
        }
    }
}

impl<T> From<T> for MaybeInputRequired<T> {
    fn from(result: T) -> Self {
        Self::Complete(result)
    }
}

impl<T: ResultObject> ResultObject for MaybeInputRequired<T> {
    fn conform_to(&mut self, revision: Revision) {
        match self {
            Self::Complete(result) => result.conform_to(revision),
            Self::InputRequired(result) => result.conform_to(revision),
        }
    }
}

/// `resultType` decides. It comes last as often as first, and a result can be large, so its text is
/// looked through for the type first and then read once as what it is.
impl<'de, T: DeserializeOwned> Deserialize<'de> for MaybeInputRequired<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(rename = "resultType", default)]
            result_type: ResultType,
        }

        let text = Box::<RawValue>::deserialize(deserializer)?;
        let text = text.get();
        let Kind { result_type } = serde_json::from_str(text).map_err(D::Error::custom)?;
        match result_type {
            ResultType::InputRequired => serde_json::from_str(text).map(Self::InputRequired),
            _ => serde_json::from_str(text).map(Self::Complete),
        }
        .map_err(D::Error::custom)
    }
}
