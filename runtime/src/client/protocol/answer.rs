//! One question of a server, answered as the protocol has it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use serde::Serialize;
use treenail_schema::{
    ClientCapabilities, CreateMessageRequestParams, ElicitAction, ElicitRequestFormParams,
    ElicitRequestParams, ElicitResult, InputRequest,
};

use crate::client::protocol::handler::{ClientHandler, unanswered};
use crate::form::parse_form_content;
use crate::panic::catch;
use crate::wire::RpcError;

/// Who answers, and what the server has been told of that.
pub(super) struct Answers {
    handler: Box<dyn ClientHandler>,
    capabilities: ClientCapabilities,
}

impl Answers {
    pub(super) fn new(handler: Box<dyn ClientHandler>, capabilities: ClientCapabilities) -> Self {
        Self {
            handler,
            capabilities,
        }
    }

    pub(super) fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    /// The text of the answer to a question. A panic of a handler is an error: the question is answered all the same.
    pub(super) async fn answer(&self, question: InputRequest) -> Result<String, RpcError> {
        let mut answering = pin!(self.ask(question));
        poll_fn(|context| {
            let polled = catch(|| answering.as_mut().poll(context));
            polled.unwrap_or_else(|panic| {
                tracing::error!(panic, "a handler of questions of the server has panicked");
                Poll::Ready(Err(RpcError::internal(
                    "the handler of the client has failed",
                )))
            })
        })
        .await
    }

    async fn ask(&self, question: InputRequest) -> Result<String, RpcError> {
        match question {
            InputRequest::Elicit(params) => write(&self.elicit(params).await?),
            InputRequest::CreateMessage(params) => {
                self.allow_sampling(&params)?;
                write(&self.handler.create_message(params).await?)
            }
            InputRequest::ListRoots(_) if self.capabilities.roots.is_some() => {
                write(&self.handler.list_roots().await?)
            }
            other => Err(unanswered(other.method())),
        }
    }

    async fn elicit(&self, params: ElicitRequestParams) -> Result<ElicitResult, RpcError> {
        let declared = self.capabilities.elicitation.as_ref();
        let declared = declared.ok_or_else(|| unanswered("elicitation/create"))?;
        // Without a mode, it is forms that are meant.
        let forms = declared.form.is_some() || declared.url.is_none();
        match params {
            ElicitRequestParams::Form(form) if forms => self.fill_in(form).await,
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

    /// Has a form filled in; fields without a value get their defaults.
    async fn fill_in(&self, form: ElicitRequestFormParams) -> Result<ElicitResult, RpcError> {
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
                tracing::warn!(%error, "a form was not filled in as its schema says");
                Err(RpcError::internal(
                    "the form was not filled in as its schema says",
                ))
            }
        }
    }

    fn allow_sampling(&self, params: &CreateMessageRequestParams) -> Result<(), RpcError> {
        let declared = self.capabilities.sampling.as_ref();
        let declared = declared.ok_or_else(|| unanswered("sampling/createMessage"))?;
        let needs_tools = params.tools.is_some() || params.tool_choice.is_some();
        if needs_tools && declared.tools.is_none() {
            return Err(RpcError::invalid_params(
                "this client has not declared `sampling.tools`",
            ));
        }
        Ok(())
    }
}

fn write(result: &impl Serialize) -> Result<String, RpcError> {
    serde_json::to_string(result)
        .map_err(|error| RpcError::internal(format!("the answer cannot be written: {error}")))
}
