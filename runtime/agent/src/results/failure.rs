//! Messages to the model about calls without a result.

use std::time::Duration;

use serde_json::Value;
use treenail_runtime::client::ClientError;
use treenail_schema::internal::nearest;
use treenail_schema::internal::{quoted, shortened};
use treenail_schema::{TaskSupport, Tool, error_code};

/// Maximum number of tool names listed in a message.
const MAX_LISTED_NAMES: usize = 64;

/// Reason why a call has no result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallFailure<'a> {
    /// No tool has this name.
    UnknownTool { known: &'a [&'a str] },
    /// The arguments are invalid; the report is that of
    /// [`ArgumentChecker::prepare`](crate::arguments::ArgumentChecker::prepare).
    InvalidArguments { report: &'a str },
    /// The call could not be parsed; the message is that of [`Piece::Malformed`](crate::text::Piece::Malformed).
    Malformed { message: &'a str },
    /// The user denied the call.
    Denied { reason: Option<&'a str> },
    /// The policy forbids the call.
    Forbidden { reason: Option<&'a str> },
    /// Tool calls are disabled for this run.
    CallsDisabled,
    /// The call needs approval, but no consumer reads the events.
    NoApprover,
    /// The call timed out.
    TimedOut { after: Duration },
    /// The call submits another output.
    AlreadySubmitted,
    /// The message contains too many calls.
    TooManyCalls { max: usize },
    /// The run ended before the call was finished.
    Interrupted { reason: &'a str },
    /// The request failed.
    Failed(&'a ClientError),
}

/// Extension for tasks, as a JSON pointer into the data of the error for a missing capability.
const TASKS: &str = "/requiredCapabilities/extensions/io.modelcontextprotocol~1tasks";

/// Replaces the refusal of a call by a server whose tool runs as a task only. The reason is that the program has connected a client
/// without tasks, which no other call changes.
pub(crate) fn explain_task_only(error: ClientError, tool: &Tool) -> ClientError {
    let ClientError::Refused(refused) = &error else {
        return error;
    };
    let is_task_only = match refused.code {
        error_code::MISSING_REQUIRED_CLIENT_CAPABILITY => {
            let data = refused.data.as_ref();
            data.and_then(|data| data.pointer(TASKS))
                .is_some_and(Value::is_object)
        }
        // Revision 2025-11-25 declares it in the list.
        error_code::METHOD_NOT_FOUND => {
            let execution = tool.execution.as_ref();
            execution.and_then(|it| it.task_support) == Some(TaskSupport::Required)
        }
        _ => false,
    };
    if !is_task_only {
        return error;
    }
    let refused = shortened(&refused.to_string());
    ClientError::unsupported(format!(
        "it runs as a task only, which needs `.tasks()` at the builder of the client of its source; the server: {refused}"
    ))
}

/// Describes to the model why a call has no result and what it can do next.
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
            "The tool {name} was not called: it needs approval, and no one is available to approve it.\n\
            Go on without it, or tell the user what you would have done."
        ),
        CallFailure::TimedOut { after } => timed_out(&name, after),
        CallFailure::AlreadySubmitted => {
            format!("The call of {name} has no effect: an output was accepted before.")
        }
        CallFailure::TooManyCalls { max } => format!(
            "The tool {name} was not called: of the calls in one message, only {max} are run.\n\
            Call it again in your next message, if it is still needed."
        ),
        CallFailure::Interrupted { reason } => {
            format!(
                "The call of the tool {name} was not completed: {}.",
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

/// Describes a failed request, classified by the possible reaction.
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
        ClientError::Http {
            status: 429 | 503, ..
        } => {
            return format!(
                "The server of the tool {name} is too busy and has not run it ({}).\n\
                Call it again later, or go on without it.",
                shortened(&error.to_string())
            );
        }
        ClientError::Closed(_) | ClientError::SessionExpired | ClientError::Http { .. } => {
            "the connection to its server failed, and it may or may not have done its work"
        }
        ClientError::Unanswered(_) => "its server sent a request that the client could not answer",
        ClientError::Unsupported(_) => "this client cannot call it",
        ClientError::TooLong(_) => "its result is longer than the client accepts",
        ClientError::Protocol(_) | ClientError::Output(_) => {
            "its server returned an invalid response"
        }
        _ => "the call could not be sent",
    };
    format!(
        "The tool {name} gave no result: {what} ({}).\n\
        Calling it again will probably not help. Go on without it, or tell the user that it does not work.",
        shortened(&error.to_string())
    )
}
