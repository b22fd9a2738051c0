//! Multi-round-trip requests: input requests inside a result, and the responses to them.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{
    CreateMessageRequest, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams,
    ListRootsRequest, Request, RequestParams,
};

/// Input requests, under keys that the server chooses.
pub type InputRequests = BTreeMap<String, InputRequest>;

/// Responses to [`InputRequests`], under the same keys.
pub type InputResponses = BTreeMap<String, InputResponse>;

/// Input that a server needs before it can finish a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// `sampling/createMessage`.
    CreateMessage(CreateMessageRequestParams),
    /// `roots/list`.
    ListRoots(Option<RequestParams>),
    /// `elicitation/create`.
    Elicit(ElicitRequestParams),
}

impl InputRequest {
    /// Returns the method, as in `elicitation/create`.
    pub fn method(&self) -> &'static str {
        match self {
            Self::CreateMessage(_) => CreateMessageRequest::METHOD,
            Self::ListRoots(_) => ListRootsRequest::METHOD,
            Self::Elicit(_) => ElicitRequest::METHOD,
        }
    }
}

impl From<CreateMessageRequestParams> for InputRequest {
    fn from(params: CreateMessageRequestParams) -> Self {
        Self::CreateMessage(params)
    }
}

impl From<ElicitRequestParams> for InputRequest {
    fn from(params: ElicitRequestParams) -> Self {
        Self::Elicit(params)
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Message<P> {
            method: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            params: Option<P>,
        }

        let method = self.method();
        match self {
            Self::CreateMessage(params) => Message {
                method,
                params: Some(params),
            }
            .serialize(serializer),
            Self::ListRoots(params) => Message {
                method,
                params: params.as_ref(),
            }
            .serialize(serializer),
            Self::Elicit(params) => Message {
                method,
                params: Some(params),
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Message {
            method: String,
            params: Option<Value>,
        }

        fn read<P: DeserializeOwned, E: Error>(params: Option<Value>) -> Result<P, E> {
            let params = params.ok_or_else(|| E::missing_field("params"))?;
            P::deserialize(params).map_err(E::custom)
        }

        let Message { method, params } = Message::deserialize(deserializer)?;
        match method.as_str() {
            CreateMessageRequest::METHOD => read(params).map(Self::CreateMessage),
            ListRootsRequest::METHOD if params.is_none() => Ok(Self::ListRoots(None)),
            ListRootsRequest::METHOD => read(params).map(Some).map(Self::ListRoots),
            ElicitRequest::METHOD => read(params).map(Self::Elicit),
            _ => Err(D::Error::custom(format_args!(
                "unknown input request `{method}`, expected one of `{}`, `{}`, `{}`",
                CreateMessageRequest::METHOD,
                ListRootsRequest::METHOD,
                ElicitRequest::METHOD,
            ))),
        }
    }
}

/// Response to an [`InputRequest`].
///
/// It does not name the method, so it remains JSON until the sender of the request decodes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputResponse(pub Value);

impl InputResponse {
    /// Encodes the result of a request `R`.
    ///
    /// # Errors
    ///
    /// Fails if the result cannot be written as JSON. All results of the protocol can.
    pub fn encode<R: Request>(result: &R::Result) -> serde_json::Result<Self> {
        serde_json::to_value(result).map(Self)
    }

    /// Decodes the result of a request `R`.
    ///
    /// ```
    /// use treenail_schema::{ElicitAction, ElicitRequest, InputResponse};
    ///
    /// let response: InputResponse = serde_json::from_str(r#"{"action":"decline"}"#)?;
    /// assert_eq!(response.decode::<ElicitRequest>()?.action, ElicitAction::Decline);
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the JSON is not a result of `R`.
    pub fn decode<R: Request>(&self) -> serde_json::Result<R::Result> {
        R::Result::deserialize(&self.0)
    }
}
