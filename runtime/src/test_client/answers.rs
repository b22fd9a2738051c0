//! How a test client answers what the server asks it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use treenail_schema::{
    ClientCapabilities, ClientCapabilitiesElicitation, ClientCapabilitiesRoots,
    ClientCapabilitiesSampling, InputRequest, InputRequiredResult, InputResponse, JsonObject,
    MaybeInputRequired, Revision, error_code,
};

use crate::test_client::exchange::read_as;
use crate::wire::RpcError;

/// So many questions of one request are answered. A function that asks without an end would else keep a test forever.
pub(super) const MOST_QUESTIONS: usize = 100;

/// Who answers.
#[derive(Clone)]
pub(super) struct Answers(Arc<Mutex<Answer>>);

type Answer = dyn FnMut(InputRequest) -> Result<InputResponse, RpcError> + Send;

impl fmt::Debug for Answers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Answers").finish_non_exhaustive()
    }
}

impl Answers {
    pub(super) fn new<F, R>(mut answer: F) -> Self
    where
        F: FnMut(InputRequest) -> Result<R, RpcError> + Send + 'static,
        R: Serialize,
    {
        Self(Arc::new(Mutex::new(move |question| {
            let response = answer(question)?;
            serde_json::to_value(response)
                .map(InputResponse)
                .map_err(|error| RpcError::internal(format!("not written as JSON: {error}")))
        })))
    }

    fn answer(&self, question: InputRequest) -> Result<InputResponse, RpcError> {
        let mut answer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answer(question)
    }

    /// Answers a request that the server makes in the legacy era.
    pub(super) fn answer_request(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<InputResponse, RpcError> {
        let mut question = json!({"method": method});
        if !params.is_null() {
            question["params"] = params.clone();
        }
        let question = serde_json::from_value(question).map_err(|error| {
            RpcError::new(error_code::METHOD_NOT_FOUND, format!("`{method}`: {error}"))
        })?;
        self.answer(question)
    }

    /// Adds to the `params` of a request of the modern era what the server asked for instead of finishing it.
    pub(super) fn answer_result(
        &self,
        asked: InputRequiredResult,
        params: &mut Value,
    ) -> Result<(), RpcError> {
        let mut responses = serde_json::Map::new();
        for (key, question) in asked.input_requests.unwrap_or_default() {
            responses.insert(key, self.answer(question)?.0);
        }
        params["inputResponses"] = Value::Object(responses);
        if let Some(state) = asked.request_state {
            params["requestState"] = Value::String(state);
        }
        Ok(())
    }
}

/// What the server asks for in place of the result, if it does.
pub(super) fn asked(result: &RawValue) -> Result<Option<InputRequiredResult>, RpcError> {
    Ok(match read_as::<MaybeInputRequired<Value>>(result)? {
        MaybeInputRequired::Complete(_) => None,
        MaybeInputRequired::InputRequired(asked) => Some(asked),
    })
}

/// What a client can do that answers everything.
pub(super) fn everything(revision: Revision) -> ClientCapabilities {
    let (mut elicitation, mut sampling) = (
        ClientCapabilitiesElicitation::new(),
        ClientCapabilitiesSampling::new(),
    );
    if revision >= Revision::V2025_11_25 {
        elicitation.form = Some(JsonObject::new());
        elicitation.url = Some(JsonObject::new());
        sampling.tools = Some(JsonObject::new());
        sampling.context = Some(JsonObject::new());
    }
    ClientCapabilities::new()
        .with_elicitation(elicitation)
        .with_sampling(sampling)
        .with_roots(ClientCapabilitiesRoots::new())
}
