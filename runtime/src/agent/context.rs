//! Inside a tool: the model of the client.

use serde_json::Value;
use serde_json::value::to_raw_value;
use treenail_schema::CreateMessageRequestParams;

use crate::agent::{Journal, Model, ModelCapabilities, ModelError, ModelFuture, TextSink};
use crate::ask::{AskError, Round};
use crate::context::Context;

/// The model of the client that calls a tool, so that the tool can be an agent itself. Made by [`Context::model`].
///
/// ```
/// use treenail_runtime::agent::{ToolLoop, ToolLoopError, ToolSource};
/// use treenail_runtime::{Context, Server};
///
/// #[allow(deprecated, reason = "the model is the client's on purpose")]
/// async fn research(cx: &Context, library: &Server, question: String) -> Result<String, ToolLoopError> {
///     let agent = ToolLoop::new(cx.model()).source("library", ToolSource::from(library).auto_approve());
///     Ok(agent.run(question).await?.text())
/// }
/// ```
///
/// The tools of the loop run here, in the server; the client is shown them, and answers with the calls that its model makes.
/// A client that has not declared `sampling.tools` is never sent tools: its model is told of them in words, and its
/// calls are found in its text.
///
/// # In the modern era
///
/// There, a function [runs again from its beginning](Context#asking-the-client) after each question, and each message of the
/// model is a question. The loop runs again too, with the answers that there are; it comes to the same point because all
/// that it does follows from them. The **results of its calls are kept**, as with [`Context::once`], so no call is made
/// twice. What that asks of the function:
///
/// - What goes into the loop has to be the same each time: no clock and no random number in the prompt. A question that
///   differs is asked anew.
/// - One loop runs at a time. Several loops after each other are fine.
/// - The answers and results are carried by the client: they have to fit into
///   [`Limits::request_state_bytes`](crate::Limits::request_state_bytes), 64 KiB if nothing else is set, and the messages
///   into [`Limits::question_rounds`](crate::Limits::question_rounds). A small
///   [`ToolLoopLimits::result_bytes`](crate::agent::ToolLoopLimits::result_bytes) helps.
/// - The time of the loop begins anew with each message.
#[derive(Clone, Debug)]
pub struct ContextModel {
    context: Context,
}

impl Context {
    /// The client's language model, for a [`ToolLoop`](crate::agent::ToolLoop) within a tool.
    #[deprecated(
        note = "the protocol deprecates sampling (SEP-2577; it may be removed from 2027-07-28 on); call a model of your own"
    )]
    pub fn model(&self) -> ContextModel {
        ContextModel {
            context: self.clone(),
        }
    }
}

impl ContextModel {
    fn round(&self) -> Option<&Round> {
        self.context.state().round()
    }

    /// Where a value is kept: with the message that the model gave last.
    fn key(round: &Round, key: &str) -> String {
        format!("dev.treenail/tool-loop/{}/{key}", round.reply())
    }
}

impl Model for ContextModel {
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        _: TextSink<'a>,
    ) -> ModelFuture<'a> {
        #[allow(deprecated, reason = "whoever made this has been warned")]
        let reply = self.context.sample(request.clone());
        Box::pin(async move { reply.await.map(Into::into).map_err(model_error) })
    }

    fn capabilities(&self) -> ModelCapabilities {
        let sampling = self.context.client_capabilities().sampling.as_ref();
        let tools = sampling.is_some_and(|sampling| sampling.tools.is_some());
        ModelCapabilities::default().tools(tools)
    }

    fn journal(&self) -> Option<&dyn Journal> {
        self.round().map(|_| self as &dyn Journal)
    }
}

impl Journal for ContextModel {
    fn recall(&self, key: &str) -> Option<Value> {
        let round = self.round()?;
        let recorded = round.done(&Self::key(round, key))?;
        serde_json::from_str(recorded.get()).ok()
    }

    fn record(&self, key: &str, value: Value) {
        let Some(round) = self.round() else { return };
        match to_raw_value(&value) {
            Ok(text) => round.record(&Self::key(round, key), text),
            Err(model_error) => {
                tracing::model_error!(%model_error, "the result of a call is not kept")
            }
        }
    }
}

fn model_error(model_error: AskError) -> ModelError {
    match model_error {
        AskError::TimedOut | AskError::Closed | AskError::Cancelled => {
            ModelError::unavailable(model_error)
        }
        AskError::Invalid(_) => ModelError::invalid_response(model_error),
        _ => ModelError::refused(model_error),
    }
}
