//! Model of the client, for use inside a tool.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use serde_json::value::to_raw_value;
use treenail_runtime::AskError;
use treenail_runtime::Context;
use treenail_runtime::internal;
use treenail_schema::CreateMessageRequestParams;

use crate::{Journal, Model, ModelCapabilities, ModelError, ModelFuture, TextSink};

/// Model of the client that calls a tool, so that the tool itself can be an agent. Returned by
/// [`ContextExt::model`].
///
/// ```
/// use treenail::agent::{ContextExt, ToolLoop, ToolLoopError, ToolSource};
/// use treenail::{Context, Server};
///
/// #[allow(deprecated, reason = "the model is the client's on purpose")]
/// async fn research(cx: &Context, library: &Server, question: String) -> Result<String, ToolLoopError> {
///     let agent = ToolLoop::new(cx.model()).source("library", ToolSource::from(library).auto_approve());
///     Ok(agent.run(question).await?.text())
/// }
/// ```
///
/// The tools of the loop run here, in the server. The client receives their definitions and returns the calls of its
/// model. A client that has not declared `sampling.tools`, or of a revision before 2025-11-25, never receives tools:
/// they are listed in the prompt instead, and calls are parsed from the model's text.
///
/// # In the modern era
///
/// In the modern era, a function [restarts](Context#asking-the-client) after each request to the client, and each model
/// message is such a request. The loop restarts too, replays the responses that it has, and reaches the same point
/// because it is deterministic. **Results of tool calls are recorded**, as with [`Context::once`], so no call runs
/// twice. This requires of the function:
///
/// - The input of the loop has to be the same each time: no clock and no random numbers in the prompt. A request that
///   differs is sent again.
/// - Only one loop runs at a time. Several loops in sequence are fine.
/// - Between messages, the function may ask the user, for example for an approval, in the same order each time. No call of
///   a message starts before all approvals of that message are decided. While calls run, the function must not ask: a
///   call without a result would run again. The tools of the loop should not ask through the context of the function:
///   they do not run again, so a message is requested twice.
/// - The client carries the responses and results. They have to fit into
///   [`Limits::request_state_bytes`](treenail_runtime::Limits::request_state_bytes), 64 KiB by default, and the number of messages
///   is bounded by [`Limits::input_rounds`](treenail_runtime::Limits::input_rounds). A small
///   [`ToolLoopLimits::result_bytes`](crate::ToolLoopLimits::result_bytes) helps.
/// - The timeout of the loop restarts with each message. A run that ends while calls run, by its timeout or
///   [`Run::cancel`](crate::Run::cancel), ends there too when the function restarts. One that is dropped is not recorded: its calls
///   would run again.
#[derive(Clone, Debug)]
pub struct ContextModel {
    context: Context,
    /// Number of questions of the function when the last message arrived.
    asked: Arc<AtomicUsize>,
}

/// Methods that this crate adds to [`Context`]. The prelude of `treenail` imports them.
pub trait ContextExt {
    /// Returns the client's language model, for a [`ToolLoop`](crate::ToolLoop) within a tool.
    #[deprecated(
        note = "the protocol deprecates sampling (SEP-2577; it may be removed from 2027-07-28 on); call a model of your own"
    )]
    fn model(&self) -> ContextModel;
}

impl ContextExt for Context {
    fn model(&self) -> ContextModel {
        ContextModel {
            context: self.clone(),
            asked: Arc::new(internal::asked(self).into()),
        }
    }
}

impl ContextModel {
    /// Journal key of a value: scoped to the last message of the model. Questions after that message do not change it.
    fn key(&self, key: &str) -> String {
        let asked = self.asked.load(Ordering::Relaxed);
        format!("dev.treenail/tool-loop/{asked}/{key}")
    }
}

impl Model for ContextModel {
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        _: TextSink<'a>,
    ) -> ModelFuture<'a> {
        #[allow(deprecated, reason = "creating this value already warns")]
        let reply = self.context.sample(request.clone());
        Box::pin(async move {
            let reply = reply.await.map_err(model_error)?;
            let asked = internal::asked(&self.context);
            self.asked.store(asked, Ordering::Relaxed);
            Ok(reply.into())
        })
    }

    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities::default().tools(internal::takes_tools(&self.context))
    }

    fn journal(&self) -> Option<&dyn Journal> {
        internal::has_rounds(&self.context).then_some(self as &dyn Journal)
    }
}

impl Journal for ContextModel {
    fn recall(&self, key: &str) -> Option<Value> {
        let recorded = internal::recall(&self.context, &self.key(key))?;
        serde_json::from_str(recorded.get()).ok()
    }

    fn record(&self, key: &str, value: Value) {
        match to_raw_value(&value) {
            Ok(text) => internal::record(&self.context, &self.key(key), text),
            Err(error) => {
                tracing::error!(%error, "failed to record the result of a call");
            }
        }
    }
}

fn model_error(error: AskError) -> ModelError {
    match error {
        AskError::TimedOut | AskError::Closed | AskError::Cancelled => {
            ModelError::unavailable(error)
        }
        AskError::Invalid(_) => ModelError::invalid_response(error),
        _ => ModelError::refused(error),
    }
}
