//! Which calls may be made: those that say they are harmless, those that the user has approved, and those that the user
//! approves when asked.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use console::Style;
use treenail::agent::{Approval, ApprovalRequest, Trust};

use super::approved::Approved;
use crate::ask::{SharedLines, Typed};
use crate::screen::Screen;
use crate::show::{clean_line, exact_json};

/// Characters of arguments that are shown.
const SHOWN: usize = 8_000;

/// The user's consent.
#[derive(Clone, Debug)]
pub(super) struct Consent {
    screen: Screen,
    lines: SharedLines,
    /// What may run without asking.
    approved: Arc<Approved>,
    /// What the user has approved for good, by server and tool.
    always: Arc<Mutex<HashSet<(String, String)>>>,
}

/// What becomes of a call that was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decision {
    Approve,
    Deny(&'static str),
}

impl Consent {
    pub(super) fn new(approved: Approved, screen: &Screen, lines: &SharedLines) -> Self {
        Self {
            screen: screen.clone(),
            lines: Arc::clone(lines),
            approved: Arc::new(approved),
            always: Arc::default(),
        }
    }

    /// What decides on each call.
    pub(super) fn policy(&self) -> impl Fn(&ApprovalRequest) -> Approval + Send + Sync + use<> {
        let consent = self.clone();
        let is_interactive = Screen::is_interactive();
        move |request| match consent.decide(request) {
            Approval::Ask if !is_interactive => {
                let (server, tool) = place(request);
                let why = "nobody is there who could agree to it";
                consent.screen.note(&format!(
                    "`{}` of `{server}` is not run: {why} (see --approve {server}:{})",
                    clean_line(tool),
                    clean_line(tool),
                ));
                Approval::Deny(why.to_owned())
            }
            decided => decided,
        }
    }

    fn decide(&self, request: &ApprovalRequest) -> Approval {
        let (server, tool) = place(request);
        if self.approved.contains(server, tool) || self.is_always(request) {
            return Approval::Allow;
        }
        Approval::by_annotations(request)
    }

    fn is_always(&self, request: &ApprovalRequest) -> bool {
        let (server, tool) = place(request);
        self.always()
            .contains(&(server.to_owned(), tool.to_owned()))
    }

    /// Asks the one at the terminal.
    pub(super) async fn ask(self, request: Box<ApprovalRequest>) -> Decision {
        let mut lines = self.lines.lock().await;
        // It may have been approved for good by the answer before.
        if self.is_always(&request) {
            return Decision::Approve;
        }
        self.screen.end_progress();
        self.show(&request);
        let prompt = "Run it? [y]es, [n]o, [a]lways this tool: ";
        loop {
            let line = match lines.ask(&self.screen, prompt).await {
                Typed::Line(line) => line.to_lowercase(),
                Typed::Back => continue,
                Typed::Decline => return Decision::Deny("the user does not want it"),
                Typed::Cancel => return Decision::Deny("the user is not there"),
            };
            match line.as_str() {
                "y" | "yes" => return Decision::Approve,
                "n" | "no" => return Decision::Deny("the user does not want it"),
                "a" | "always" => {
                    let (server, tool) = place(&request);
                    self.always().insert((server.to_owned(), tool.to_owned()));
                    return Decision::Approve;
                }
                _ => {}
            }
        }
    }

    fn show(&self, request: &ApprovalRequest) {
        let (server, tool) = place(request);
        let heading = format!("\nThe model wants to run `{}`", clean_line(tool));
        let says = says(request);
        let text = format!("of `{server}`, {says}:");
        self.screen.say_under(&heading, &Style::new().bold(), &text);
        let arguments = exact_json(&request.call.input);
        match arguments.char_indices().nth(SHOWN) {
            Some((end, _)) => {
                let more = arguments[end..].chars().count();
                self.screen.say(&arguments[..end]);
                self.screen.say(&format!("… and {more} characters more"));
            }
            None => self.screen.say(&arguments),
        }
    }

    fn always(&self) -> MutexGuard<'_, HashSet<(String, String)>> {
        self.always.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server and the tool, by its server's name for it.
fn place(request: &ApprovalRequest) -> (&str, &str) {
    let source = request.call.source.as_deref().unwrap_or_default();
    (source, &request.tool.name)
}

/// What the tool says of itself.
fn says(request: &ApprovalRequest) -> &'static str {
    let Some(hints) = &request.tool.annotations else {
        return "which says nothing of its effects";
    };
    if request.trust == Trust::Untrusted {
        return match (hints.read_only_hint, hints.destructive_hint) {
            (Some(true), _) => "which says that it only reads (not believed without --trust)",
            (_, Some(false)) => {
                "which says that it destroys nothing (not believed without --trust)"
            }
            _ => "which changes something, and may destroy it",
        };
    }
    match (hints.read_only_hint, hints.destructive_hint) {
        (Some(true), _) => "which reads, and reaches out of its server",
        (_, Some(true)) => "which says that it may destroy something",
        (_, Some(false)) => "which changes something, and reaches out of its server",
        (_, None) => "which changes something, and may destroy it",
    }
}
