//! Common parts of all results, and responses that may request input instead.

use std::fmt;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::{InputRequiredResult, Revision};

/// State of a request, as its response reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum ResultType {
    /// Finished; the default for a result without `resultType`.
    #[default]
    Complete,
    /// The server needs input to continue.
    InputRequired,
    /// A value of an extension.
    Other(String),
}

impl ResultType {
    /// Returns the value in JSON.
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

/// Result of any request.
pub trait ResultObject {
    /// Name of the type in [`fields`](crate::fields); empty if it has none.
    #[doc(hidden)]
    const NAME: &'static str = "";

    /// Sets the members that `revision` requires of every result, and removes those it does not define:
    /// `resultType`, `ttlMs` and `cacheScope`. Does not overwrite values that are set.
    fn conform_to(&mut self, revision: Revision) {
        let _ = revision;
    }
}

/// Sets a member that the revision requires to its default if it is unset, or removes the member.
pub(crate) fn require<T: Default>(member: &mut Option<T>, required: bool) {
    if required {
        member.get_or_insert_default();
    } else {
        *member = None;
    }
}

/// Response to a request for which the server may need input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "most results are about as large")]
pub enum MaybeInputRequired<T> {
    /// The request is finished.
    Complete(T),
    /// The server needs input; the client repeats the request with it.
    InputRequired(InputRequiredResult),
}

impl<T> MaybeInputRequired<T> {
    /// Returns the result, if the request is finished.
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

/// `resultType` selects the variant, but it may be the last member of a large result. The text is scanned for it first
/// and then deserialized once.
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
