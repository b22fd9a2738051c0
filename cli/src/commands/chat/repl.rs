//! Interactive chat at the terminal.

use treenail::agent::Conversation;

use super::interrupts::Interrupts;
use super::turn::{Turn, TurnOutcome};
use crate::elicit::SharedLineReader;
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

const HELP: &str = "\
/new   start a new conversation
/quit  quit, like Ctrl-D
//…    send a message that starts with a slash
Ctrl-C stops the current answer or call. At the prompt, Ctrl-C twice quits.";

/// Input of the user.
#[derive(Debug, PartialEq, Eq)]
enum ReplCommand {
    Send(String),
    New,
    Help,
    Quit,
    Empty,
}

/// Runs the chat until the user quits.
pub(super) async fn run_repl(
    turn: &Turn,
    line_reader: &SharedLineReader,
    interrupts: &mut Interrupts,
) -> Result<Exit, Failure> {
    let terminal = &turn.terminal;
    terminal.print_note("Ctrl-C stops an answer, Ctrl-D quits, /help shows help.");
    let mut conversation = Conversation::new();
    let mut was_interrupted = false;
    loop {
        let Some(command) = next_command(terminal, line_reader, interrupts).await else {
            if std::mem::replace(&mut was_interrupted, true) {
                terminal.print_message("");
                return Ok(Exit::Interrupted);
            }
            terminal.print_message("\nPress Ctrl-C again to quit.");
            continue;
        };
        was_interrupted = false;
        match command {
            ReplCommand::Send(text) => {
                let outcome = turn.run(conversation.user(text), interrupts).await?;
                print_outcome(terminal, &outcome);
                conversation = outcome.into_conversation();
            }
            ReplCommand::New => {
                conversation = Conversation::new();
                terminal.print_note("started a new conversation");
            }
            ReplCommand::Help => terminal.print_message(HELP),
            ReplCommand::Empty => {}
            ReplCommand::Quit => return Ok(Exit::Success),
        }
    }
}

/// Reads the next input of the user, or returns `None` after Ctrl-C.
async fn next_command(
    terminal: &Terminal,
    line_reader: &SharedLineReader,
    interrupts: &mut Interrupts,
) -> Option<ReplCommand> {
    // A server may hold the reader with an unsolicited elicitation request.
    let next_line = async { line_reader.lock().await.read_line(terminal, "\n> ").await };
    tokio::select! {
        line = next_line => Some(ReplCommand::parse(line.as_deref())),
        () = interrupts.next() => None,
    }
}

/// Prints a turn's outcome, except for its answer.
fn print_outcome(terminal: &Terminal, outcome: &TurnOutcome) {
    match outcome {
        TurnOutcome::Completed(_) => {}
        TurnOutcome::Cancelled(_) => {
            terminal.print_note("cancelled; the conversation continues");
        }
        TurnOutcome::Failed(failure, _) => terminal.print_error(failure),
    }
}

impl ReplCommand {
    fn parse(line: Option<&str>) -> Self {
        let Some(line) = line else {
            return Self::Quit;
        };
        match line.trim() {
            "" => Self::Empty,
            "/new" => Self::New,
            "/help" => Self::Help,
            "/quit" | "/exit" => Self::Quit,
            text => match text.strip_prefix("//") {
                Some(rest) => Self::Send(format!("/{rest}")),
                None => Self::Send(text.to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slash_commands_are_recognized() {
        let cases = [
            (None, ReplCommand::Quit),
            (Some("  "), ReplCommand::Empty),
            (Some(" /new "), ReplCommand::New),
            (Some("/help"), ReplCommand::Help),
            (Some("/quit"), ReplCommand::Quit),
            (
                Some("/etc/hosts"),
                ReplCommand::Send("/etc/hosts".to_owned()),
            ),
            (Some("//new"), ReplCommand::Send("/new".to_owned())),
        ];
        for (line, expected) in cases {
            assert_eq!(ReplCommand::parse(line), expected, "{line:?}");
        }
    }
}
