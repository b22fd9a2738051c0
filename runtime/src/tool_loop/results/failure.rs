//! Why a call has no result, and what the model can do about it.

use std::time::Duration;

use crate::client::ClientError;

/// Why a call has no result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallFailure<'a> {
    /// There is no tool of that name.
    UnknownTool { known: &'a [&'a str] },
    /// The arguments are wrong, as [`Arguments::prepare`](crate::tool_loop::arguments::Arguments::prepare) has told.
    WrongArguments { report: &'a str },
    /// What was meant as a call cannot be read, as the message of
    /// [`Piece::Malformed`](crate::tool_loop::text::Piece::Malformed) has told.
    Malformed { message: &'a str },
    /// The user does not want it.
    Denied { reason: Option<&'a str> },
    /// The policy does not allow it.
    Forbidden { reason: Option<&'a str> },
    /// There was somebody to be asked, and nobody to ask.
    NobodyToAsk,
    /// It has taken too long.
    TimedOut { after: Duration },
    /// There were more calls in the message than are run.
    TooMany { most: usize },
    /// The loop has ended before it was run.
    Ended { reason: &'a str },
    /// The request has failed.
    Failed(&'a ClientError),
}

/// What to tell the model of a call that has no result: what happened, and what it can do next.
pub(crate) fn error_text(tool: &str, failure: CallFailure<'_>) -> String {
    format!("tool `{tool}`: {failure:?}")
}
