//! `treenail chat`: a language model at the terminal, with the tools of servers.
//!
//! `servers` connects, `model` says which model it is, `approved` and `consent` which calls may be made; `turn` is what follows from one
//! thing that the user says, and `talk` one after the other.

mod approved;
mod consent;
mod interrupts;
mod model;
mod servers;
mod stream;
mod talk;
mod turn;

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use treenail::ToolLoop;
use treenail::agent::{Conversation, RunReport, StopReason, ToolLoopLimits};

use self::approved::{Approved, Word};
use self::consent::Consent;
use self::interrupts::Interrupts;
use self::model::ModelArgs;
use self::servers::{Servers, ServersArgs};
use self::turn::{Ended, Turn};
use crate::args::{AnswerArgs, OutputArgs, ProbeArgs, duration};
use crate::ask::Lines;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::server::terminated;
use crate::show::exact_json;

/// A turn is ended by whoever has waited long enough; this is for programs.
const LONGEST_TURN: Duration = Duration::from_secs(60 * 60);

/// The longest prompt that is read from standard input.
const PROMPT_BYTES: u64 = 4 << 20;

/// Talk with a language model that uses the tools of servers
///
/// Without PROMPT it is a conversation: Ctrl-C ends an answer or a call and keeps the conversation, and a second one leaves.
/// With PROMPT, or a prompt on standard input, there is one answer.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// What to say; `-` reads it from standard input
    prompt: Option<String>,

    #[command(flatten)]
    model: ModelArgs,

    /// What the model is told before the conversation: the text itself, or @FILE
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,

    #[command(flatten)]
    servers: ServersArgs,

    /// How often the model may call tools before it has to answer
    #[arg(long, value_name = "COUNT", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Calls of tools")]
    max_rounds: u32,

    /// How long each call of a tool may take, questions of its server included, e.g. 90, 1.5s, 5m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration, help_heading = "Calls of tools")]
    timeout: Duration,

    /// Run this without asking: SERVER for all tools of a server, SERVER:TOOL for one, or TOOL; can be repeated
    ///
    /// The name of a server always means that server, and what has a colon always a tool of the server before it. Any other
    /// name means the tools that have it when the conversation begins: of the only server, or of each server with `--trust`.
    #[arg(
        long,
        value_name = "SERVER|SERVER:TOOL|TOOL",
        help_heading = "Calls of tools"
    )]
    approve: Vec<String>,

    /// A directory that the servers are told they may work in; can be repeated
    #[arg(long = "roots", value_name = "DIR", help_heading = "Servers")]
    roots: Vec<PathBuf>,

    #[command(flatten)]
    probe: ProbeArgs,

    #[command(flatten)]
    answers: AnswerArgs,

    #[command(flatten)]
    pub(super) output: OutputArgs,
}

impl Chat {
    pub(super) async fn run(self, screen: &Screen) -> Result<Exit, Failure> {
        let prompt = self.prompt()?;
        let model = self.model.build()?;
        let system_prompt = self.system_prompt.as_deref().map(text_of).transpose()?;
        let targets = self.servers.parse()?;
        let names: Vec<_> = targets.iter().map(|(name, _)| name.as_str()).collect();
        let words = Word::all(&self.approve, &names)?;
        let lines = Lines::shared(screen);
        // Before the first wait, so that none is missed after the last one of those that hear it themselves.
        let mut interrupts = Interrupts::new()?;
        let servers = Box::pin(Servers::open(&self, targets, screen, &lines)).await?;
        let approved = match Approved::find(words, &servers, screen).await {
            Ok(approved) => approved,
            Err(failure) => {
                servers.close().await;
                return Err(failure);
            }
        };
        let consent = Consent::new(approved, screen, &lines);
        let mut agent = ToolLoop::new(model)
            .max_tokens(self.model.max_tokens)
            .limits(
                ToolLoopLimits::default()
                    .max_iterations(self.max_rounds)
                    .timeout(LONGEST_TURN)
                    .call_timeout(self.timeout),
            )
            .approve(consent.policy());
        if let Some(text) = system_prompt {
            agent = agent.system_prompt(text);
        }
        let agent = servers
            .sources()
            .fold(agent, |agent, (name, source)| agent.source(name, source));
        let turn = Turn {
            agent,
            consent,
            screen: screen.clone(),
            hint: self.model.hint(),
            is_quiet: self.output.json,
        };
        let talking = async {
            match prompt {
                Some(prompt) => self.answer(&turn, prompt, &mut interrupts).await,
                None => talk::talk(&turn, &lines, &mut interrupts).await,
            }
        };
        let done = tokio::select! {
            done = talking => done,
            () = terminated() => Err(Failure::new(Exit::Terminated, "told to terminate")),
        };
        servers.close().await;
        done
    }

    /// What to say, if there is to be one answer only.
    fn prompt(&self) -> Result<Option<String>, Failure> {
        let is_piped = !io::stdin().is_terminal();
        match self.prompt.as_deref() {
            Some("-") => from_stdin().map(Some),
            Some(prompt) => Ok(Some(prompt.to_owned())),
            None if is_piped => from_stdin().map(Some),
            None if Screen::is_interactive() => Ok(None),
            None => Err(Failure::usage(
                "a conversation takes a terminal; give the prompt on the command line",
            )),
        }
    }

    /// One answer.
    async fn answer(
        &self,
        turn: &Turn,
        prompt: String,
        interrupts: &mut Interrupts,
    ) -> Result<Exit, Failure> {
        let ended = turn.run(Conversation::from(prompt), interrupts).await?;
        if self.output.json {
            turn.screen.print(&exact_json(ended.report()))?;
        }
        match ended {
            Ended::Report(report) => Ok(exit(&report)),
            Ended::Cancelled(_) => Err(Failure::new(Exit::Interrupted, "cancelled")),
            Ended::Failed(failure, _) => Err(failure),
        }
    }
}

/// What the end of an answer means for the program.
fn exit(report: &RunReport) -> Exit {
    match report.stop_reason {
        StopReason::Finished | StopReason::StopSequence => Exit::Success,
        StopReason::Timeout => Exit::Timeout,
        _ => Exit::Unfinished,
    }
}

/// A text of the command line, or the one in a file.
fn text_of(given: &str) -> Result<String, Failure> {
    match given.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).map_err(Failure::local(path)),
        None => Ok(given.to_owned()),
    }
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let mut stdin = io::stdin().lock().take(PROMPT_BYTES + 1);
    stdin
        .read_to_string(&mut text)
        .map_err(Failure::local("standard input"))?;
    if text.len() as u64 > PROMPT_BYTES {
        let why = format!("there are more than {PROMPT_BYTES} bytes on standard input");
        return Err(Failure::usage(why));
    }
    if text.trim().is_empty() {
        return Err(Failure::usage("there is no prompt on standard input"));
    }
    Ok(text)
}
