//! A conversation at the terminal.

use treenail::agent::Conversation;

use super::interrupts::Interrupts;
use super::turn::{Ended, Turn};
use crate::ask::SharedLines;
use crate::exit::{Exit, Failure};

const HELP: &str = "\
/new   begin a new conversation
/quit  leave, as Ctrl-D does
//…    say something that begins with a slash
Ctrl-C ends an answer or a call and keeps the conversation; at the prompt it leaves, the second time.";

/// What the user wants.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    Say(String),
    Begin,
    Help,
    Leave,
    Nothing,
}

/// Talks until the user leaves.
pub(super) async fn talk(
    turn: &Turn,
    lines: &SharedLines,
    interrupts: &mut Interrupts,
) -> Result<Exit, Failure> {
    let screen = &turn.screen;
    screen.note("Ctrl-C ends an answer, Ctrl-D leaves, /help tells more.");
    let mut conversation = Conversation::new();
    let mut was_interrupted = false;
    loop {
        // A server may hold the lines, with a question that nobody has called for.
        let said = async { lines.lock().await.line(screen, "\n> ").await };
        let line = tokio::select! {
            line = said => line,
            () = interrupts.next() => {
                if std::mem::replace(&mut was_interrupted, true) {
                    screen.say("");
                    return Ok(Exit::Interrupted);
                }
                screen.say("\nCtrl-C once more leaves.");
                continue;
            }
        };
        was_interrupted = false;
        let text = match Wish::of(line.as_deref()) {
            Wish::Say(text) => text,
            Wish::Begin => {
                conversation = Conversation::new();
                screen.note("a new conversation");
                continue;
            }
            Wish::Help => {
                screen.say(HELP);
                continue;
            }
            Wish::Nothing => continue,
            Wish::Leave => return Ok(Exit::Success),
        };
        let ended = turn.run(conversation.user(text), interrupts).await?;
        match &ended {
            Ended::Report(_) => {}
            Ended::Cancelled(_) => screen.note("cancelled; the conversation goes on"),
            Ended::Failed(failure, _) => screen.error(failure),
        }
        conversation = ended.into_conversation();
    }
}

impl Wish {
    fn of(line: Option<&str>) -> Self {
        let Some(line) = line else {
            return Self::Leave;
        };
        match line.trim() {
            "" => Self::Nothing,
            "/new" => Self::Begin,
            "/help" => Self::Help,
            "/quit" | "/exit" => Self::Leave,
            text => match text.strip_prefix("//") {
                Some(rest) => Self::Say(format!("/{rest}")),
                None => Self::Say(text.to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_a_slash_are_told_from_what_is_said() {
        let cases = [
            (None, Wish::Leave),
            (Some("  "), Wish::Nothing),
            (Some(" /new "), Wish::Begin),
            (Some("/help"), Wish::Help),
            (Some("/quit"), Wish::Leave),
            (Some("/etc/hosts"), Wish::Say("/etc/hosts".to_owned())),
            (Some("//new"), Wish::Say("/new".to_owned())),
        ];
        for (line, expected) in cases {
            assert_eq!(Wish::of(line), expected, "{line:?}");
        }
    }
}
