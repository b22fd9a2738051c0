//! `treenail chat`: a language model with the tools of MCP servers.
//!
//! `servers` connects, `model` configures the model, and `approved_tools` and `consent` decide on calls. `turn` runs the
//! model for one message of the user, and `repl` reads the messages.

mod approved_tools;
mod consent;
mod interrupts;
mod model;
mod repl;
mod servers;
mod streamed_text;
mod turn;

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use treenail::ToolLoop;
use treenail::agent::{Conversation, OpenAiModel, RunReport, StopReason, ToolLoopLimits};

use self::approved_tools::{ApproveTarget, ApprovedTools};
use self::consent::Consent;
use self::interrupts::Interrupts;
use self::model::ModelArgs;
use self::servers::{Servers, ServersArgs};
use self::turn::{Turn, TurnOutcome};
use crate::args::{AnswerArgs, OutputArgs, ProbeArgs, TraceArgs, parse_duration};
use crate::elicit::LineReader;
use crate::exit::{Exit, Failure};
use crate::render::escaped_json;
use crate::server::MessageArgs;
use crate::signals::terminated;
use crate::terminal::Terminal;

/// Timeout of one turn, for unattended use. A user can press Ctrl-C earlier.
const TURN_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Maximum size of a prompt on standard input.
const MAX_PROMPT_BYTES: u64 = 4 << 20;

/// Chat with a language model that calls the tools of servers
///
/// Without PROMPT, the chat is interactive. Ctrl-C stops the current answer or call, and Ctrl-C twice at the prompt quits.
/// With PROMPT, or a prompt on standard input, the program prints one answer and exits.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// Prompt for a single answer; `-` reads it from standard input
    prompt: Option<String>,

    #[command(flatten)]
    model: ModelArgs,

    /// System prompt: inline or @FILE
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,

    #[command(flatten)]
    servers: ServersArgs,

    /// Maximum number of rounds of tool calls per answer
    #[arg(long, value_name = "COUNT", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Tool calls")]
    max_rounds: u32,

    /// Timeout of each tool call, including elicitation, e.g. 90, 1.5s, 5m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration, help_heading = "Tool calls")]
    timeout: Duration,

    /// Run tools without asking for approval: SERVER for all tools of a server, SERVER:TOOL for one, or TOOL; can be repeated
    ///
    /// A server name always selects that server, and a value with a colon always selects a tool of the server before the
    /// colon. Any other value selects the tools of that name at the start of the chat: of the only server, or of each
    /// server with `--trust`.
    #[arg(
        long,
        value_name = "SERVER|SERVER:TOOL|TOOL",
        help_heading = "Tool calls"
    )]
    approve: Vec<String>,

    /// Directory to expose to the servers as a root; can be repeated
    #[arg(long = "roots", value_name = "DIR", help_heading = "Servers")]
    roots: Vec<PathBuf>,

    #[command(flatten)]
    probe: ProbeArgs,

    #[command(flatten)]
    messages: MessageArgs,

    #[command(flatten)]
    answers: AnswerArgs,

    #[command(flatten)]
    pub(super) output: OutputArgs,

    #[command(flatten)]
    trace: TraceArgs,
}

impl Chat {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let prompt = self.read_prompt()?;
        let model = self.model.build(&self.servers.authorities)?;
        let system_prompt = self.read_system_prompt()?;
        let targets = self.servers.parse()?;
        let names: Vec<_> = targets.iter().map(|(name, _)| name.as_str()).collect();
        let approve_targets = ApproveTarget::parse_all(&self.approve, &names)?;
        let line_reader = LineReader::shared(terminal);
        // Installed before the first wait. Connecting has its own handler, so no Ctrl-C is lost in between.
        let mut interrupts = Interrupts::new()?;
        let servers = Box::pin(Servers::open(&self, targets, terminal, &line_reader)).await?;
        let approved = match ApprovedTools::resolve(approve_targets, &servers, terminal).await {
            Ok(approved) => approved,
            Err(failure) => {
                servers.close().await;
                return Err(failure);
            }
        };
        let consent = Consent::new(approved, terminal, &line_reader);
        let turn = Turn {
            agent: self.tool_loop(model, system_prompt, &servers, &consent),
            consent,
            terminal: terminal.clone(),
            hint: self.model.refusal_hint(),
            is_quiet: self.output.json,
        };
        let talking = async {
            match prompt {
                Some(prompt) => self.answer(&turn, prompt, &mut interrupts).await,
                None => repl::run_repl(&turn, &line_reader, &mut interrupts).await,
            }
        };
        let done = tokio::select! {
            done = talking => done,
            () = terminated() => Err(Failure::new(Exit::Terminated, "terminated")),
        };
        servers.close().await;
        done
    }

    /// Returns the prompt for a single answer, or `None` for an interactive chat.
    fn read_prompt(&self) -> Result<Option<String>, Failure> {
        let is_piped = !io::stdin().is_terminal();
        match self.prompt.as_deref() {
            Some("-") => read_prompt_from_stdin().map(Some),
            Some(prompt) => Ok(Some(prompt.to_owned())),
            None if is_piped => read_prompt_from_stdin().map(Some),
            None if Terminal::is_interactive() => Ok(None),
            None => Err(Failure::usage(
                "an interactive chat requires a terminal; pass the prompt on the command line",
            )),
        }
    }

    fn read_system_prompt(&self) -> Result<Option<String>, Failure> {
        self.system_prompt
            .as_deref()
            .map(read_text_argument)
            .transpose()
    }

    /// Returns the tool loop of all turns.
    fn tool_loop(
        &self,
        model: OpenAiModel,
        system_prompt: Option<String>,
        servers: &Servers,
        consent: &Consent,
    ) -> ToolLoop {
        let limits = ToolLoopLimits::default()
            .max_iterations(self.max_rounds)
            .timeout(TURN_TIMEOUT)
            .call_timeout(self.timeout);
        let mut agent = ToolLoop::new(model)
            .max_tokens(self.model.max_tokens)
            .limits(limits)
            .approve(consent.policy());
        if let Some(text) = system_prompt {
            agent = agent.system_prompt(text);
        }
        servers
            .tool_sources()
            .fold(agent, |agent, (name, source)| agent.source(name, source))
    }

    /// Prints a single answer.
    async fn answer(
        &self,
        turn: &Turn,
        prompt: String,
        interrupts: &mut Interrupts,
    ) -> Result<Exit, Failure> {
        let outcome = turn.run(Conversation::from(prompt), interrupts).await?;
        if self.output.json {
            turn.terminal
                .print_text(&escaped_json(outcome.report()))
                .await?;
        }
        match outcome {
            TurnOutcome::Completed(report) => Ok(exit_of(&report)),
            TurnOutcome::Cancelled(_) => Err(Failure::new(Exit::Interrupted, "cancelled")),
            TurnOutcome::Failed(failure, _) => Err(failure),
        }
    }
}

/// Maps the end of an answer to an exit code.
fn exit_of(report: &RunReport) -> Exit {
    match report.stop_reason {
        StopReason::Finished | StopReason::StopSequence => Exit::Success,
        StopReason::Timeout => Exit::Timeout,
        _ => Exit::Unfinished,
    }
}

/// Returns inline text, or the content of the file after `@`.
fn read_text_argument(given: &str) -> Result<String, Failure> {
    match given.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).map_err(Failure::io(path)),
        None => Ok(given.to_owned()),
    }
}

fn read_prompt_from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let mut stdin = io::stdin().lock().take(MAX_PROMPT_BYTES + 1);
    stdin
        .read_to_string(&mut text)
        .map_err(Failure::io("standard input"))?;
    if text.len() as u64 > MAX_PROMPT_BYTES {
        let why = format!("the prompt on standard input is larger than {MAX_PROMPT_BYTES} bytes");
        return Err(Failure::usage(why));
    }
    if text.trim().is_empty() {
        return Err(Failure::usage("no prompt on standard input"));
    }
    Ok(text)
}
