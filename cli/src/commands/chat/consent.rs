//! Approval of tool calls: by the annotations of a trusted tool, by `--approve`, or by the user at a prompt.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use console::Style;
use treenail::agent::{Approval, ApprovalRequest, Trust};

use super::approved_tools::ApprovedTools;
use crate::elicit::{Input, SharedLineReader};
use crate::render::{escaped_json, sanitize_line};
use crate::terminal::Terminal;

/// Maximum length of printed arguments, in characters.
const MAX_ARGUMENT_CHARS: usize = 8_000;

/// Approval policy of a chat.
#[derive(Clone, Debug)]
pub(super) struct Consent {
    terminal: Terminal,
    line_reader: SharedLineReader,
    /// Tools approved on the command line.
    approved: Arc<ApprovedTools>,
    /// Pairs of server and tool that the user has approved permanently.
    always_approved: Arc<Mutex<HashSet<(String, String)>>>,
}

/// Decision on a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decision {
    Approve,
    Deny(&'static str),
}

impl Consent {
    pub(super) fn new(
        approved: ApprovedTools,
        terminal: &Terminal,
        line_reader: &SharedLineReader,
    ) -> Self {
        Self {
            terminal: terminal.clone(),
            line_reader: Arc::clone(line_reader),
            approved: Arc::new(approved),
            always_approved: Arc::default(),
        }
    }

    /// Returns the approval policy for the tool loop.
    pub(super) fn policy(&self) -> impl Fn(&ApprovalRequest) -> Approval + Send + Sync + use<> {
        let consent = self.clone();
        let is_interactive = Terminal::is_interactive();
        move |request| match consent.decide(request) {
            Approval::Ask if !is_interactive => {
                let (server, tool) = server_and_tool(request);
                let why = "no user is available to approve the call";
                consent.terminal.print_note(&format!(
                    "denied `{}` of `{server}`: {why} (use --approve {server}:{})",
                    sanitize_line(tool),
                    sanitize_line(tool),
                ));
                Approval::Deny(why.to_owned())
            }
            decided => decided,
        }
    }

    fn decide(&self, request: &ApprovalRequest) -> Approval {
        let (server, tool) = server_and_tool(request);
        if self.approved.contains(server, tool) || self.is_always_approved(request) {
            return Approval::Allow;
        }
        Approval::by_annotations(request)
    }

    fn is_always_approved(&self, request: &ApprovalRequest) -> bool {
        let (server, tool) = server_and_tool(request);
        self.always_approved()
            .contains(&(server.to_owned(), tool.to_owned()))
    }

    /// Prompts the user for approval.
    pub(super) async fn ask_user(self, request: Box<ApprovalRequest>) -> Decision {
        let mut line_reader = self.line_reader.lock().await;
        // The answer to the previous prompt may have approved this tool permanently.
        if self.is_always_approved(&request) {
            return Decision::Approve;
        }
        self.terminal.clear_progress();
        self.print_request(&request);
        let prompt = "Run it? [y]es, [n]o, [a]lways this tool: ";
        loop {
            let line = match line_reader.read_answer(&self.terminal, prompt).await {
                Input::Line(line) => line.to_lowercase(),
                Input::Back => continue,
                Input::Decline => return Decision::Deny("the user denied the call"),
                Input::Cancel => return Decision::Deny("the user cancelled the prompt"),
            };
            match line.as_str() {
                "y" | "yes" => return Decision::Approve,
                "n" | "no" => return Decision::Deny("the user denied the call"),
                "a" | "always" => {
                    let (server, tool) = server_and_tool(&request);
                    self.always_approved()
                        .insert((server.to_owned(), tool.to_owned()));
                    return Decision::Approve;
                }
                _ => {}
            }
        }
    }

    fn print_request(&self, request: &ApprovalRequest) {
        let (server, tool) = server_and_tool(request);
        let heading = format!("\nThe model wants to run `{}`", sanitize_line(tool));
        let effects = describe_effects(request);
        let text = format!("of `{server}` ({effects}):");
        self.terminal
            .print_labeled(&heading, &Style::new().bold(), &text);
        let arguments = escaped_json(&request.call.input);
        match arguments.char_indices().nth(MAX_ARGUMENT_CHARS) {
            Some((end, _)) => {
                let more = arguments[end..].chars().count();
                self.terminal.print_message(&arguments[..end]);
                self.terminal
                    .print_message(&format!("… and {more} more characters"));
            }
            None => self.terminal.print_message(&arguments),
        }
    }

    fn always_approved(&self) -> MutexGuard<'_, HashSet<(String, String)>> {
        self.always_approved
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the names of the server and the tool, without the prefix that the model sees.
fn server_and_tool(request: &ApprovalRequest) -> (&str, &str) {
    let source = request.call.source.as_deref().unwrap_or_default();
    (source, &request.tool.name)
}

/// Describes the effects of a tool by its annotations.
fn describe_effects(request: &ApprovalRequest) -> &'static str {
    let Some(hints) = &request.tool.annotations else {
        return "effects not declared";
    };
    if request.trust == Trust::Untrusted {
        return match (hints.read_only_hint, hints.destructive_hint) {
            (Some(true), _) => "declared read-only, but the server is not trusted; see --trust",
            (_, Some(false)) => {
                "declared non-destructive, but the server is not trusted; see --trust"
            }
            _ => "may change or destroy data",
        };
    }
    match (hints.read_only_hint, hints.destructive_hint) {
        (Some(true), _) => "read-only, but accesses external systems",
        (_, Some(true)) => "declared destructive",
        (_, Some(false)) => "changes data and accesses external systems",
        (_, None) => "may change or destroy data",
    }
}
