//! What a run is made of, and how it is begun.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use treenail_schema::CreateMessageRequestParams;

use crate::agent::approval::ApprovalPolicy;
use crate::agent::checkpoint::RunState;
use crate::agent::{
    Approval, ApprovalRequest, Conversation, Model, PausedRun, Run, TextToolFormat, ToolLoopLimits,
    ToolSource,
};

/// Runs a language model with tools until it is done: asks the model, makes the calls that it asks for, several at once,
/// gives it the results and what went wrong, and asks again.
///
/// ```
/// use treenail_runtime::client::McpClient;
/// use treenail_runtime::agent::{Model, ToolLoop};
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
/// With one source, the model knows the tools by their own names; with several, as `source__tool`. Names have no more than
/// 64 characters, of letters, digits, `_` and `-`, since hosts of models refuse others: `weather.forecast` is
/// `weather_forecast`. Where that would give two tools one name, or one that is too long, a digest makes the difference.
/// Which tool a name means is kept in a table and not read from the name. A model that uses a tool's own name is understood
/// where only one source has it.
///
/// # What runs without asking
///
/// See [`Approval::by_annotations`]; [`approve`](Self::approve) sets another policy. What is to be asked is an event of the
/// [`Run`]; where nobody reads the events, it is not run.
///
/// # What goes wrong
///
/// Wrong arguments, tools that fail or take too long, calls that are denied and the like are told to the model, which can
/// do better. What ends a run early is an [`StopReason`](crate::agent::StopReason), with the transcript until then. Only
/// what makes it impossible to go on is a [`ToolLoopError`](crate::agent::ToolLoopError), which has the transcript too.
///
/// It is cheap to clone, and can run any number of conversations, also at once.
#[derive(Clone)]
#[must_use = "`run` runs it"]
pub struct ToolLoop {
    pub(super) config: Arc<Config>,
}

/// What all runs of a loop share.
#[derive(Clone)]
pub(super) struct Config {
    pub(super) model: Arc<dyn Model>,
    pub(super) sources: Vec<(String, ToolSource)>,
    pub(super) system_prompt: Option<String>,
    pub(super) max_tokens: i64,
    pub(super) tool_choice: ToolChoice,
    pub(super) limits: ToolLoopLimits,
    pub(super) policy: ApprovalPolicy,
    pub(super) format: TextToolFormat,
    pub(super) edit: Option<Edit>,
}

type Edit = Arc<dyn Fn(&mut CreateMessageRequestParams) + Send + Sync>;

/// Whether the model calls tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// It may.
    #[default]
    Auto,
    /// It must in its first message, and may then. (If it had to each time, it could never finish.)
    Required,
    /// It must not, and a call that it makes all the same is not made: the model is told that none may be.
    None,
    /// It must call this tool in its first message, by the name that the source gives it or that the model knows it by, and
    /// may call any then.
    Tool(String),
}

impl ToolLoop {
    /// A loop with a model, and no tools yet. An `Arc<dyn Model>` is a model too.
    pub fn new(model: impl Model + 'static) -> Self {
        Self {
            config: Arc::new(Config {
                model: Arc::new(model),
                sources: Vec::new(),
                system_prompt: None,
                max_tokens: 4096,
                tool_choice: ToolChoice::default(),
                limits: ToolLoopLimits::default(),
                policy: ApprovalPolicy::default(),
                format: TextToolFormat::default(),
                edit: None,
            }),
        }
    }

    /// Adds tools: of an [`McpClient`](crate::client::McpClient), of a [`Server`](crate::Server) in the same process, or
    /// functions (`tools![…]`). See [`ToolSource`] for what else there is to say of them.
    ///
    /// To add a source is to say that its server is trusted in the sense of the protocol: the annotations of its tools are
    /// believed, and a tool that says that it only reads runs without asking. One that the program does not vouch for is
    /// added as [`ToolSource::untrusted`], and each of its calls asks.
    ///
    /// The name is told to the model where there are several sources, so it should say what the tools are about. The lists of
    /// the tools are fetched when a run begins, and again when a server has told of a change.
    pub fn source(self, name: impl Into<String>, source: impl Into<ToolSource>) -> Self {
        let source = (name.into(), source.into());
        self.with(|config| config.sources.push(source))
    }

    /// Sets what the model is told before the conversation.
    pub fn system_prompt(self, prompt: impl Into<String>) -> Self {
        let prompt = prompt.into();
        self.with(|config| config.system_prompt = Some(prompt))
    }

    /// Sets how many tokens a message of the model may have. Default 4096.
    pub fn max_tokens(self, tokens: i64) -> Self {
        self.with(|config| config.max_tokens = tokens)
    }

    /// Sets whether the model calls tools. Default: it may.
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.with(|config| config.tool_choice = choice)
    }

    /// Decides on each call with a function, in place of [`Approval::by_annotations`]. It must not block.
    ///
    /// ```
    /// use treenail_runtime::agent::{Approval, Model, ToolLoop};
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

    /// Sets how a model that has no tools ([`ModelCapabilities::tools`](crate::agent::ModelCapabilities::tools)) is told of them,
    /// and how its calls are found in its text.
    pub fn text_tool_format(self, format: TextToolFormat) -> Self {
        self.with(|config| config.format = format)
    }

    /// Sets all bounds.
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

    /// Changes each request to the model before it is made, for what there is no method for: temperature, preferences for
    /// models, texts at which to stop.
    ///
    /// ```
    /// use treenail_runtime::agent::{Model, ToolLoop};
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

    /// Begins a run, from a text, from messages, or from the report of an earlier run and what is said then. It runs when
    /// the [`Run`] is awaited or read.
    pub fn run(&self, conversation: impl Into<Conversation>) -> Run {
        let messages = conversation.into().into_messages();
        Run::new(Arc::clone(&self.config), RunState::new(messages))
    }

    /// Goes on with a run that was paused, perhaps in another process. The loop should have the sources that the run had.
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
