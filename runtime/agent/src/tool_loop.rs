//! Configuration of a tool loop, and its builder.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use treenail_runtime::internal::JsonSchema;
use treenail_schema::CreateMessageRequestParams;

use crate::approval::ApprovalPolicy;
use crate::checkpoint::RunState;
use crate::output::OutputType;
use crate::{
    Approval, ApprovalRequest, Conversation, Model, PausedRun, Run, TextToolFormat, ToolLoopLimits,
    ToolSource,
};

/// Runs a language model with tools until the model has finished. Each iteration requests a message from the model,
/// runs the calls in it in parallel, and returns their results and errors to the model.
///
/// ```
/// use treenail::client::McpClient;
/// use treenail::agent::{Model, ToolLoop};
///
/// # async fn example(model: impl Model + 'static) -> Result<(), Box<dyn std::error::Error>> {
/// let client = McpClient::builder().command("weather-server").build().await?;
/// let report = ToolLoop::new(model)
///     .source("weather", &client)
///     .system_prompt("You are brief.")
///     .run("Do I need an umbrella in Oslo?")
///     .await?;
/// println!("{}", report.text());
/// # Ok(())
/// # }
/// ```
///
/// # Names
///
/// With one source, the model sees the tools under their own names; with several, as `source__tool`. Names are at most
/// 64 characters long and consist of letters, digits, `_` and `-`, because model hosts reject others:
/// `weather.forecast` becomes `weather_forecast`. Where two tools would get the same name, or a name would be too long,
/// a digest is appended. A lookup table maps names to tools; names are never parsed. A model may also use a tool's own
/// name if only one source has it.
///
/// # Approval
///
/// [`Approval::by_annotations`] decides which calls run without approval; [`approve`](Self::approve) sets another
/// policy. A call that needs approval is an event of the [`Run`]. If no consumer reads the events, the call is denied.
///
/// # Failures
///
/// Invalid arguments, failing tools, timeouts and denied calls are reported to the model, which can correct itself. A
/// [`StopReason`](crate::StopReason) gives the cause of an early end, and the report contains the transcript up
/// to it. Only failures that make it impossible to continue are a [`ToolLoopError`](crate::ToolLoopError), which
/// contains the transcript too.
///
/// A `ToolLoop` is cheap to clone and can run any number of conversations concurrently.
#[derive(Clone)]
#[must_use = "call `run` to start a run"]
pub struct ToolLoop {
    pub(super) config: Arc<Config>,
}

/// Configuration that all runs of a loop share.
#[derive(Clone)]
pub(super) struct Config {
    pub(super) model: Arc<dyn Model>,
    pub(super) sources: Vec<(String, ToolSource)>,
    pub(super) system_prompt: Option<String>,
    pub(super) max_tokens: i64,
    pub(super) tool_choice: ToolChoice,
    pub(super) output: Option<OutputType>,
    pub(super) limits: ToolLoopLimits,
    pub(super) policy: ApprovalPolicy,
    pub(super) format: TextToolFormat,
    pub(super) edit: Option<Edit>,
    pub(super) background_tasks: bool,
}

type Edit = Arc<dyn Fn(&mut CreateMessageRequestParams) + Send + Sync>;

/// Tool use by the model: optional, required, forbidden, or one specific tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model may call tools.
    #[default]
    Auto,
    /// The model must call a tool in its first message; afterwards tools are optional. (Otherwise the run could never
    /// finish.)
    Required,
    /// The model must not call tools, except for the submission of an [output](ToolLoop::output). A call that it makes anyway is
    /// not run, and the model receives an error.
    None,
    /// The model must call this tool in its first message; afterwards it may call any. The name is the one that the
    /// source uses or the one that the model sees.
    Tool(String),
}

impl ToolLoop {
    /// Creates a loop with a model and no tools. `Arc<dyn Model>` implements [`Model`] too.
    pub fn new(model: impl Model + 'static) -> Self {
        Self {
            config: Arc::new(Config {
                model: Arc::new(model),
                sources: Vec::new(),
                system_prompt: None,
                max_tokens: 4096,
                tool_choice: ToolChoice::default(),
                output: None,
                limits: ToolLoopLimits::default(),
                policy: ApprovalPolicy::default(),
                format: TextToolFormat::default(),
                edit: None,
                background_tasks: false,
            }),
        }
    }

    /// Adds a tool source: an [`McpClient`](treenail_runtime::client::McpClient), a [`Server`](treenail_runtime::Server) in the same process,
    /// or functions (`tools![…]`). See [`ToolSource`] for its options.
    ///
    /// A source added here counts as a trusted server in the sense of the protocol. Its tool annotations are believed,
    /// and tools that declare themselves read-only run without approval. Add sources that the program does not vouch
    /// for as [`ToolSource::untrusted`]; each of their calls then needs approval.
    ///
    /// With several sources, the model sees the name as a prefix, so it should describe the tools. Tool lists are
    /// fetched when a run starts and again after a server has reported a change.
    pub fn source(self, name: impl Into<String>, source: impl Into<ToolSource>) -> Self {
        let source = (name.into(), source.into());
        self.with(|config| config.sources.push(source))
    }

    /// Sets the system prompt.
    pub fn system_prompt(self, prompt: impl Into<String>) -> Self {
        let prompt = prompt.into();
        self.with(|config| config.system_prompt = Some(prompt))
    }

    /// Sets the maximum number of tokens of one model message. Default 4096.
    pub fn max_tokens(self, tokens: i64) -> Self {
        self.with(|config| config.max_tokens = tokens)
    }

    /// Sets the tool choice. Default: [`ToolChoice::Auto`].
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.with(|config| config.tool_choice = choice)
    }

    /// Ends runs with a value of this type instead of a text. [`RunReport::output_as`](crate::RunReport::output_as) reads it
    /// from the report.
    ///
    /// ```
    /// use treenail::agent::{ScriptedModel, ScriptedReply, ToolLoop};
    /// use treenail::{json, mcp_type};
    ///
    /// #[mcp_type]
    /// struct Plan {
    ///     city: String,
    ///     steps: Vec<String>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> treenail::Result<()> {
    /// let submission = json!({"city": "Oslo", "steps": ["opera"]});
    /// let model = ScriptedModel::new([ScriptedReply::call("submit_output", submission)]);
    /// let report = ToolLoop::new(model).output::<Plan>().run("A day in Oslo").await?;
    /// let plan: Plan = report.output_as()?;
    /// assert_eq!(plan.city, "Oslo");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The model submits the value by calling a tool of the loop. Its name is `submit_output`, with a digest if a source has a
    /// tool of this name. Its input schema is that of the type. A value other than a struct is its argument `output`.
    ///
    /// - Each request requires a call ([`ToolChoice::Required`]). For an endpoint that cannot, [`edit_requests`](Self::edit_requests)
    ///   removes `tool_choice`. With [`ToolChoice::None`], the submission is the only tool.
    /// - A submission is validated as other calls are. The model reads the errors, and can submit again. No approval is requested.
    /// - The first valid submission is the output. The other calls of its message run, and the run ends when they have results
    ///   and no task runs in the background.
    /// - A model that ends with a text is reminded of the submission once. If it ends with a text again, the run ends with it.
    /// - In the last message of [`ToolLoopLimits::max_iterations`], the model can only submit.
    pub fn output<T: DeserializeOwned + JsonSchema>(self) -> Self {
        self.with(|config| config.output = Some(OutputType::of::<T>()))
    }

    /// Sets the approval policy, in place of [`Approval::by_annotations`]. The function must not block.
    ///
    /// ```
    /// use treenail::agent::{Approval, Model, ToolLoop};
    ///
    /// # fn example(model: impl Model + 'static) -> ToolLoop {
    /// ToolLoop::new(model).approve(|request| match &*request.tool.name {
    ///     "delete_file" => Approval::Deny("files stay".to_owned()),
    ///     "write_file" => Approval::Allow,
    ///     _ => Approval::by_annotations(request),
    /// })
    /// # }
    /// ```
    pub fn approve(
        self,
        policy: impl Fn(&ApprovalRequest) -> Approval + Send + Sync + 'static,
    ) -> Self {
        self.with(|config| config.policy = ApprovalPolicy::new(policy))
    }

    /// Sets the text format for models without tool use
    /// ([`ModelCapabilities::tools`](crate::ModelCapabilities::tools)): the tools are listed in the system
    /// prompt, and calls are parsed from the model's text.
    pub fn text_tool_format(self, format: TextToolFormat) -> Self {
        self.with(|config| config.format = format)
    }

    /// Sets all limits.
    pub fn limits(self, limits: ToolLoopLimits) -> Self {
        self.with(|config| config.limits = limits)
    }

    /// Sets [`ToolLoopLimits::max_iterations`]. Default 10.
    pub fn max_iterations(self, iterations: u32) -> Self {
        self.with(|config| config.limits.max_iterations = iterations)
    }

    /// Sets [`ToolLoopLimits::timeout`]. Default 5 min.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|config| config.limits.timeout = timeout)
    }

    /// Sets [`ToolLoopLimits::call_timeout`]. Default 30 s.
    pub fn call_timeout(self, timeout: Duration) -> Self {
        self.with(|config| config.limits.call_timeout = timeout)
    }

    /// Modifies each request before it is sent to the model, for settings that have no method here: temperature, model
    /// preferences, stop sequences.
    ///
    /// ```
    /// use treenail::agent::{Model, ToolLoop};
    ///
    /// # fn example(model: impl Model + 'static) -> ToolLoop {
    /// ToolLoop::new(model).edit_requests(|request| request.temperature = Some(0.2.into()))
    /// # }
    /// ```
    pub fn edit_requests(
        self,
        edit: impl Fn(&mut CreateMessageRequestParams) + Send + Sync + 'static,
    ) -> Self {
        self.with(|config| config.edit = Some(Arc::new(edit)))
    }

    /// Lets calls that become tasks of their servers run in the background. The model reads the id of the task as the result of
    /// the call and continues; the outcome follows in a later message. When the model has finished, the run waits for the tasks
    /// that are left, and the model continues with their outcomes. Before the last message of
    /// [`ToolLoopLimits::max_iterations`], it waits too. Tasks that run when the run ends early are cancelled, and the results of
    /// their calls in the transcript say so.
    ///
    /// Default `false`: a call waits for its task, within [`ToolLoopLimits::call_timeout`]. Only clients that support tasks have
    /// any. A model whose run restarts after each message ([`Model::journal`]) always waits.
    pub fn background_tasks(self, enabled: bool) -> Self {
        self.with(|config| config.background_tasks = enabled)
    }

    /// Creates a run from a text, from messages, or from the report of an earlier run and further messages. The run
    /// makes progress only while the [`Run`] is awaited or polled.
    pub fn run(&self, conversation: impl Into<Conversation>) -> Run {
        let messages = conversation.into().into_messages();
        Run::new(Arc::clone(&self.config), RunState::new(messages))
    }

    /// Resumes a paused run, perhaps in another process. The loop should have the same sources as the original run.
    pub fn resume(&self, paused: PausedRun) -> Run {
        Run::new(Arc::clone(&self.config), paused.state)
    }

    fn with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(Arc::make_mut(&mut self.config));
        self
    }
}

impl fmt::Debug for ToolLoop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolLoop")
            .field("sources", &self.config.sources)
            .field("tool_choice", &self.config.tool_choice)
            .field("limits", &self.config.limits)
            .finish_non_exhaustive()
    }
}
