//! Checks around the handler: declared capabilities, form contents, panics.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::ptr;
use std::task::Poll;

use serde::Serialize;
use serde_json::Value;
use treenail_schema::{
    ClientCapabilities, CreateMessageRequestParams, ElicitAction, ElicitRequestFormParams,
    ElicitRequestParams, ElicitResult, ElicitSchema, InputRequest, Revision,
};

use crate::ask::check_conversation;
use crate::client::protocol::handler::{ClientHandler, unsupported_method};
use crate::client::timeout::paused;
use crate::form::{FormError, describe_field, parse_form_content};
use crate::panic::catch;
use crate::revision::downgrade_sampling_result;
use crate::wire::{RpcError, is_heavier, read_json, shortened};

/// Handler with the capabilities that were declared to the server. It rejects requests that they do not cover.
pub(super) struct CheckedHandler {
    handler: Box<dyn ClientHandler>,
    capabilities: ClientCapabilities,
}

thread_local! {
    /// The handler that is being polled.
    static POLLED: Cell<*const CheckedHandler> = const { Cell::new(ptr::null()) };
}

/// Scope in which a handler is polled. Contains the handler that was polled before.
struct PollScope(*const CheckedHandler);

impl PollScope {
    fn enter(handler: &CheckedHandler) -> Self {
        Self(POLLED.replace(handler))
    }
}

impl Drop for PollScope {
    fn drop(&mut self) {
        POLLED.set(self.0);
    }
}

impl CheckedHandler {
    pub(super) fn new(handler: Box<dyn ClientHandler>, capabilities: ClientCapabilities) -> Self {
        Self {
            handler,
            capabilities,
        }
    }

    pub(super) fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    /// Returns true if the server may send requests by the declared capabilities.
    pub(super) fn may_be_asked(&self) -> bool {
        let declared = &self.capabilities;
        declared.elicitation.is_some() || declared.sampling.is_some() || declared.roots.is_some()
    }

    /// Returns the result of a request as JSON text, for a server of `revision`. A panic of the handler becomes an error.
    /// Timeouts around it pause.
    pub(super) async fn answer(
        &self,
        request: InputRequest,
        revision: Revision,
    ) -> Result<String, RpcError> {
        let mut answering = pin!(self.call_handler(request, revision));
        let answer = poll_fn(|context| {
            let _scope = PollScope::enter(self);
            let polled = catch(|| answering.as_mut().poll(context));
            polled.unwrap_or_else(|panic| {
                tracing::error!(panic, "the handler for requests of the server panicked");
                Poll::Ready(Err(RpcError::internal("the handler of the client failed")))
            })
        });
        paused(answer).await
    }

    /// Returns true within a poll of the handler, as for the requests that it sends itself.
    pub(super) fn is_polled(&self) -> bool {
        ptr::eq(POLLED.get(), self)
    }

    async fn call_handler(
        &self,
        request: InputRequest,
        revision: Revision,
    ) -> Result<String, RpcError> {
        match request {
            InputRequest::Elicit(params) => serialize(&self.elicit(params).await?),
            InputRequest::CreateMessage(params) => {
                self.check_sampling(&params)?;
                let result = self.handler.create_message(params).await?;
                serialize(&downgrade_sampling_result(result, revision)?)
            }
            InputRequest::ListRoots(_) if self.capabilities.roots.is_some() => {
                serialize(&self.handler.list_roots().await?)
            }
            other => Err(unsupported_method(other.method())),
        }
    }

    async fn elicit(&self, params: ElicitRequestParams) -> Result<ElicitResult, RpcError> {
        let declared = self.capabilities.elicitation.as_ref();
        let declared = declared.ok_or_else(|| unsupported_method("elicitation/create"))?;
        // An empty capability means forms only.
        let forms = declared.form.is_some() || declared.url.is_none();
        match params {
            ElicitRequestParams::Form(form) if forms => self.elicit_form(form).await,
            ElicitRequestParams::Url(page) if declared.url.is_some() => {
                let mut result = self.handler.elicit(page.into()).await?;
                result.content = None;
                Ok(result)
            }
            _ => Err(RpcError::invalid_params(
                "this client has not declared that mode of elicitation",
            )),
        }
    }

    /// Elicits a form and checks its content. Fields without a value get their defaults.
    async fn elicit_form(&self, form: ElicitRequestFormParams) -> Result<ElicitResult, RpcError> {
        let schema = form.requested_schema.clone();
        let mut result = self.handler.elicit(form.into()).await?;
        if result.action != ElicitAction::Accept {
            result.content = None;
            return Ok(result);
        }
        let entered = result.content.take().unwrap_or_default();
        match parse_form_content(&schema, entered) {
            Ok(content) => {
                result.content = Some(content);
                Ok(result)
            }
            Err(error) => {
                let fields = invalid_fields(&schema, &error);
                tracing::warn!(fields, "the content of a form does not match its schema");
                Err(RpcError::internal(format!(
                    "the content of the form does not match its schema: {fields}"
                )))
            }
        }
    }

    /// Checks the capabilities that a request needs, and the uses and results of tools in its messages.
    fn check_sampling(&self, params: &CreateMessageRequestParams) -> Result<(), RpcError> {
        let declared = self.capabilities.sampling.as_ref();
        let declared = declared.ok_or_else(|| unsupported_method("sampling/createMessage"))?;
        let needs_tools = params.tools.is_some() || params.tool_choice.is_some();
        if needs_tools && declared.tools.is_none() {
            return Err(RpcError::invalid_params(
                "this client has not declared `sampling.tools`",
            ));
        }
        check_conversation(&params.messages).map_err(RpcError::invalid_params)
    }
}

/// Describes the fields that do not match the schema, without the values, which only their recipient may see.
fn invalid_fields(schema: &ElicitSchema, error: &FormError) -> String {
    let fields = error.errors().iter().filter_map(|error| {
        let name = error.field();
        let expected = describe_field(schema.properties.get(name)?);
        Some(format!("`{name}`: expected {expected}"))
    });
    shortened(&fields.collect::<Vec<_>>().join(", "))
}

fn serialize(result: &impl Serialize) -> Result<String, RpcError> {
    serde_json::to_string(result)
        .map_err(|error| RpcError::internal(format!("the result cannot be serialized: {error}")))
}

/// Parses a legacy request as an input request.
pub(super) fn parse_input_request(
    method: &str,
    params: &str,
    max_bytes: usize,
) -> Result<InputRequest, RpcError> {
    const METHODS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

    if !METHODS.contains(&method) {
        return Err(unsupported_method(method));
    }
    if is_heavier(params, max_bytes) {
        return Err(RpcError::invalid_params("the parameters are too large"));
    }
    let params: Value =
        read_json(params).map_err(|error| RpcError::invalid_params(error.to_string()))?;
    let request = serde_json::json!({"method": method, "params": params});
    serde_json::from_value(request).map_err(|error| RpcError::invalid_params(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_an_unknown_method_quotes_it_once() {
        let error = parse_input_request("x/y", "{}", 99).unwrap_err();
        assert_eq!(error.message, "this client does not answer `x/y`");
    }

    #[test]
    fn a_half_of_a_character_in_a_question_is_replaced() {
        let params =
            r#"{"message":"no \ud83d","requestedSchema":{"type":"object","properties":{}}}"#;
        let request = parse_input_request("elicitation/create", params, 9_999).unwrap();
        let InputRequest::Elicit(ElicitRequestParams::Form(form)) = request else {
            panic!("not a form: {request:?}");
        };
        assert_eq!(form.message, "no \u{fffd}");
    }
}
