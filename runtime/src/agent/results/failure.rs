//! Why a call has no result, and what the model can do about it.

use std::time::Duration;

use crate::client::ClientError;
use crate::name::nearest;
use crate::wire::{quoted, shortened};

/// How many names of tools are told.
const MAX_LISTED_NAMES: usize = 64;

/// Why a call has no result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallFailure<'a> {
    /// There is no tool of that name.
    UnknownTool { known: &'a [&'a str] },
    /// The arguments are wrong, as [`Arguments::prepare`](crate::agent::arguments::Arguments::prepare) has told.
    InvalidArguments { report: &'a str },
    /// What was meant as a call cannot be read, as the message of
    /// [`Piece::Malformed`](crate::agent::text::Piece::Malformed) has told.
    Malformed { message: &'a str },
    /// The user does not want it.
    Denied { reason: Option<&'a str> },
    /// The policy does not allow it.
    Forbidden { reason: Option<&'a str> },
    /// No tool may be called in this run.
    CallsDisabled,
    /// There was somebody to be asked, and nobody to ask.
    NoApprover,
    /// It has taken too long.
    TimedOut { after: Duration },
    /// There were more calls in the message than are run.
    TooManyCalls { max: usize },
    /// The loop has ended before it was run.
    Interrupted { reason: &'a str },
    /// The request has failed.
    Failed(&'a ClientError),
}

/// What to tell the model of a call that has no result: what happened, and what it can do next.
pub(crate) fn error_text(tool: &str, failure: CallFailure<'_>) -> String {
    let name = quoted(tool);
    match failure {
        CallFailure::UnknownTool { known } => unknown_tool(tool, known),
        CallFailure::InvalidArguments { report: text }
        | CallFailure::Malformed { message: text } => text.to_owned(),
        CallFailure::Denied { reason } => format!(
            "The user does not want the tool {name} to be called with these arguments, so it was not{}.\n\
            Do not call it so again. Go on without it, or ask the user what to do instead.",
            reason_suffix(reason)
        ),
        CallFailure::Forbidden { reason } => format!(
            "The tool {name} must not be called with these arguments, so it was not{}.\n\
            Do not call it so again. Go on without it, or tell the user that it is not allowed.",
            reason_suffix(reason)
        ),
        CallFailure::CallsDisabled => format!(
            "The tool {name} was not called: no tools may be called in this conversation.\n\
            Call none any more, and answer without them."
        ),
        CallFailure::NoApprover => format!(
            "The tool {name} was not called: somebody would have had to agree, and nobody is there to be asked.\n\
            Go on without it, or tell the user what you would have done."
        ),
        CallFailure::TimedOut { after } => timed_out(&name, after),
        CallFailure::TooManyCalls { max } => format!(
            "The tool {name} was not called: of the calls in one message, only {max} are run.\n\
            Call it again in your next message, if it is still needed."
        ),
        CallFailure::Interrupted { reason } => {
            format!(
                "The tool {name} was not called, or not to its end: {}.",
                shortened(reason)
            )
        }
        CallFailure::Failed(error) => request_failed(&name, error),
    }
}

fn timed_out(name: &str, after: Duration) -> String {
    format!(
        "The tool {name} did not answer within {after:?}, and the call was cancelled. It may have done a part of its work, \
        or all of it.\n\
        If it can be called twice without harm, try once more, asking for less; otherwise go on without it."
    )
}

fn reason_suffix(reason: Option<&str>) -> String {
    reason.map_or_else(String::new, |reason| format!(": {}", shortened(reason)))
}

fn unknown_tool(tool: &str, known: &[&str]) -> String {
    let name = quoted(tool);
    if known.is_empty() {
        return format!("There is no tool {name}; there are no tools at all. Go on without them.");
    }
    let nearest = nearest(tool, known.iter().copied());
    let meant = nearest.map_or_else(String::new, |name| {
        format!(" Did you mean {}?", quoted(name))
    });
    let mut names: Vec<_> = known
        .iter()
        .take(MAX_LISTED_NAMES)
        .map(|name| quoted(name))
        .collect();
    if known.len() > MAX_LISTED_NAMES {
        names.push(format!("and {} more", known.len() - MAX_LISTED_NAMES));
    }
    format!(
        "There is no tool {name}.{meant}\nThe tools are {}.\nCall one of them, or go on without.",
        names.join(", ")
    )
}

/// What a failed request was, by what can be done about it.
fn request_failed(name: &str, error: &ClientError) -> String {
    let what = match error {
        ClientError::Refused(refused) => {
            let refused = shortened(&refused.to_string());
            return format!(
                "The server of the tool {name} refused the call: {refused}.\n\
                If that says what is wrong with the call, correct it and call the tool again; otherwise go on without it."
            );
        }
        ClientError::Timeout(after) => return timed_out(name, *after),
        ClientError::Closed(_) | ClientError::SessionExpired | ClientError::Http { .. } => {
            "the connection to its server failed, and it may or may not have done its work"
        }
        ClientError::Unanswered(_) => "its server asked a question that nobody could answer",
        ClientError::Protocol(_) | ClientError::Output(_) => {
            "its server answered with something that cannot be understood"
        }
        _ => "the call could not be sent",
    };
    format!(
        "The tool {name} gave no result: {what} ({}).\n\
        Calling it again will probably not help. Go on without it, or tell the user that it does not work.",
        shortened(&error.to_string())
    )
}
