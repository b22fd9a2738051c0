//! Client side of sampling: a model or a tool loop that responds to servers.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use treenail_runtime::RpcError;
use treenail_runtime::internal::timeout::{resumed, timeout};
use treenail_runtime::internal::{check_conversation, needs_tools};
use treenail_schema::internal::shortened;
use treenail_schema::{
    CreateMessageRequestParams, CreateMessageResult, OneOrMany, Role,
    SamplingMessageContentBlock as Block, ToolChoiceMode,
};

use crate::call_ids::CallIds;
use crate::model_call::{
    ModelCallError, ModelCaller, ModelResponse, append_to_prompt, as_tool_use,
};
use crate::tool_loop::Config;
use crate::{Model, RunReport, StopReason, ToolLoop};

/// Error code of the protocol for a request that the user rejected.
const REJECTED: i64 = -1;

/// Handler for the sampling requests of a server: a model, or a [`ToolLoop`].
///
/// ```
/// use treenail::agent::{Model, SamplingModel};
/// use treenail::prelude::*;
///
/// # fn example(model: impl Model + 'static, agent: ToolLoop) {
/// let reviewed = SamplingModel::from(model).review(|request| async move {
///     request.max_tokens <= 10_000 // or ask the user
/// });
/// let client = McpClient::builder().command("research-server").enable_tool_use_for_sampling(reviewed);
///
/// // With tools of the client's own.
/// let client = McpClient::builder().command("writing-server").enable_tool_use_for_sampling(agent);
/// # }
/// ```
///
/// - A request **with tools** goes to the model. The server owns these tools and runs them: the response contains the
///   calls, and the server sends a further request with the results.
/// - A request **without tools** goes to the model or, with a [`ToolLoop`], to a whole run of it with its own sources.
///   The server receives only the final text, or the [output](ToolLoop::output) as JSON. However, the server wrote the prompt and can make the model use these tools
///   as it likes, so add no source that this server must not use. Calls that need approval are denied.
///
/// The settings of a [`ToolLoop`] apply to both: the lower of `maxTokens` and [`ToolLoop::max_tokens`] counts, the system prompt
/// of the server follows its own, and [`ToolLoop::edit_requests`] has the last word.
///
/// The time of the model counts for the timeouts of the call that the server samples for; that of the [`review`](Self::review)
/// does not. A message is given up after [`ToolLoop::timeout`], 5 min by default.
///
/// A conversation that the protocol forbids is rejected (-32602), including one with misplaced tool results. Model
/// errors are logged and not disclosed to the server.
#[derive(Clone)]
pub struct SamplingModel {
    backend: Backend,
    review: Option<Review>,
}

#[derive(Clone)]
enum Backend {
    Model(ToolLoop),
    Loop(ToolLoop),
}

type Review = Arc<
    dyn Fn(CreateMessageRequestParams) -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync,
>;

impl<M: Model + 'static> From<M> for SamplingModel {
    fn from(model: M) -> Self {
        Self {
            backend: Backend::Model(ToolLoop::new(model)),
            review: None,
        }
    }
}

impl From<ToolLoop> for SamplingModel {
    fn from(agent: ToolLoop) -> Self {
        Self {
            backend: Backend::Loop(agent),
            review: None,
        }
    }
}

impl SamplingModel {
    /// Sets a review of each request before the model receives it: `false` rejects it on behalf of the user (-1). The
    /// protocol asks clients to offer such a review.
    #[must_use]
    pub fn review<F, A>(mut self, review: F) -> Self
    where
        F: Fn(CreateMessageRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = bool> + Send + 'static,
    {
        self.review = Some(Arc::new(move |request| Box::pin(review(request))));
        self
    }

    /// Responds to a request of a server.
    pub(crate) async fn respond(
        &self,
        request: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, RpcError> {
        validate(&request)?;
        if let Some(review) = &self.review {
            if !review(request.clone()).await {
                return Err(RpcError::new(REJECTED, "the user rejected the request"));
            }
        }
        // Only the review may wait for a user. The model has the time of the call that the server samples for.
        resumed(self.backend.respond(request)).await
    }
}

impl Backend {
    async fn respond(
        &self,
        request: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, RpcError> {
        match self {
            Self::Loop(agent) if !needs_tools(&request) => respond_with_run(agent, request).await,
            Self::Loop(agent) => {
                let request = with_settings(&agent.config, request);
                respond_with_model(&agent.config, request).await
            }
            Self::Model(agent) => respond_with_model(&agent.config, request).await,
        }
    }
}

fn validate(request: &CreateMessageRequestParams) -> Result<(), RpcError> {
    if request.messages.is_empty() {
        return Err(RpcError::invalid_params("`messages` is empty"));
    }
    if request.max_tokens < 1 {
        return Err(RpcError::invalid_params("`maxTokens` is less than 1"));
    }
    check_conversation(&request.messages).map_err(RpcError::invalid_params)
}

/// Responds with a run of a loop that has its own tools.
async fn respond_with_run(
    agent: &ToolLoop,
    request: CreateMessageRequestParams,
) -> Result<CreateMessageResult, RpcError> {
    let max_tokens = request.max_tokens.min(agent.config.max_tokens);
    let mut agent = agent.clone().max_tokens(max_tokens);
    if let Some(prompt) = request.system_prompt {
        let prompt = append_to_prompt(agent.config.system_prompt.clone(), prompt);
        agent = agent.system_prompt(prompt.unwrap_or_default());
    }
    let (own, template) = (agent.config.edit.clone(), request.messages);
    let (temperature, stop_sequences) = (request.temperature, request.stop_sequences);
    let preferences = request.model_preferences;
    let agent = agent.edit_requests(move |request| {
        request.temperature.clone_from(&temperature);
        request.stop_sequences.clone_from(&stop_sequences);
        request.model_preferences.clone_from(&preferences);
        if let Some(own) = &own {
            own(request);
        }
    });
    match agent.run(template).await {
        Ok(report) => final_message(&report),
        Err(error) => Err(internal_error(&error)),
    }
}

/// Applies the settings of a loop to a request that goes to its model.
fn with_settings(
    config: &Config,
    mut request: CreateMessageRequestParams,
) -> CreateMessageRequestParams {
    let prompt = request.system_prompt.take().unwrap_or_default();
    request.system_prompt = append_to_prompt(config.system_prompt.clone(), prompt);
    request.max_tokens = request.max_tokens.min(config.max_tokens);
    if let Some(edit) = &config.edit {
        edit(&mut request);
    }
    request
}

/// Returns the final message of a run.
fn final_message(report: &RunReport) -> Result<CreateMessageResult, RpcError> {
    let output = report.output.as_ref();
    let text = output.map_or_else(|| report.text(), ToString::to_string);
    if text.is_empty() {
        return Err(internal_error(&"the run ended without text"));
    }
    let model = report.model.clone().unwrap_or_default();
    let text = OneOrMany::One(Block::text(text));
    let reason = match &report.stop_reason {
        StopReason::StopSequence => "stopSequence",
        StopReason::MaxTokens => "maxTokens",
        StopReason::Stopped(reason) => reason,
        _ => "endTurn",
    };
    Ok(CreateMessageResult::new(Role::Assistant, text, model).with_stop_reason(reason))
}

/// Responds with one message of the model, for tools that the server runs.
async fn respond_with_model(
    config: &Config,
    request: CreateMessageRequestParams,
) -> Result<CreateMessageResult, RpcError> {
    let mode = request.tool_choice.as_ref().and_then(|choice| choice.mode);
    let has_tools = request.tools.as_ref().is_some_and(|it| !it.is_empty());
    let may_call = has_tools && mode != Some(ToolChoiceMode::None);
    let mut call_ids = CallIds::from_messages(&request.messages);
    let caller = ModelCaller {
        model: &config.model,
        format: &config.format,
        max_bytes: config.limits.message_bytes,
        parses_text: has_tools,
    };
    let response = Box::pin(caller.call(request, &|_| {}));
    let response = timeout(config.limits.timeout, response).await;
    let response = response.map_err(|error| internal_error(&error))?;
    let ModelResponse {
        mut message,
        problems,
        ..
    } = response.map_err(model_call_error)?;
    // Calls that are not allowed are dropped.
    let problem = problems.into_iter().flatten().next();
    if let Some(problem) = problem.filter(|_| may_call) {
        return Err(internal_error(&problem));
    }
    let mut content = message.content.into_vec();
    if !may_call {
        content.retain(|block| as_tool_use(block).is_none());
    }
    call_ids.make_all_unique(&mut content);
    let calls = content.iter().any(|block| as_tool_use(block).is_some());
    if content.is_empty() || (!calls && mode == Some(ToolChoiceMode::Required)) {
        return Err(internal_error(
            &"the model did not make the required call, or wrote nothing",
        ));
    }
    if calls {
        message.stop_reason = Some("toolUse".to_owned());
    } else if message.stop_reason.as_deref() == Some("toolUse") {
        // Of calls that were dropped.
        message.stop_reason = Some("endTurn".to_owned());
    }
    message.content = one_or_many(content);
    Ok(message)
}

fn model_call_error(why: ModelCallError) -> RpcError {
    match why {
        ModelCallError::TooLong => internal_error(&"the message of the model is too long"),
        ModelCallError::Failed(error) => internal_error(&error),
    }
}

/// Unwraps a single block, the form that peers of all revisions read.
fn one_or_many(mut content: Vec<Block>) -> OneOrMany<Block> {
    match content.pop() {
        Some(only) if content.is_empty() => OneOrMany::One(only),
        last => {
            content.extend(last);
            OneOrMany::Many(content)
        }
    }
}

/// Logs the cause and returns an error that does not disclose it.
fn internal_error(why: &dyn fmt::Display) -> RpcError {
    let why = shortened(&why.to_string());
    tracing::warn!(%why, "failed to respond to a sampling request");
    RpcError::internal("the client's model failed")
}

impl fmt::Debug for SamplingModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = match &self.backend {
            Backend::Model(agent) | Backend::Loop(agent) => agent,
        };
        formatter
            .debug_struct("SamplingModel")
            .field("agent", agent)
            .field("is_reviewed", &self.review.is_some())
            .finish_non_exhaustive()
    }
}
