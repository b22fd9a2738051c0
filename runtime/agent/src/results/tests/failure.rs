//! Tests of the texts about failed calls.

#![allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]

use std::time::Duration;

use treenail_runtime::RpcError;
use treenail_runtime::client::ClientError;

use crate::results::{CallFailure, error_text};

#[test]
fn failures_suggest_the_next_step() {
    let closed = ClientError::Closed("the server has ended".into());
    let refused = ClientError::Refused(RpcError::invalid_params("no such place"));
    let busy = ClientError::http("http://a.example/mcp", 503, "too many calls", None);
    let names: Vec<String> = (0..100).map(|at| format!("tool_{at}")).collect();
    let many: Vec<&str> = names.iter().map(String::as_str).collect();
    let table: [(CallFailure<'_>, &[&str]); 14] = [
        (
            CallFailure::UnknownTool {
                known: &["clock", "weather"],
            },
            &[
                "There is no tool `clok`. Did you mean `clock`?",
                "`clock`, `weather`",
                "Call one of them",
            ],
        ),
        (
            CallFailure::UnknownTool { known: &[] },
            &["no tools at all"],
        ),
        (
            CallFailure::UnknownTool { known: &many },
            &["`tool_63`, and 36 more."],
        ),
        (
            CallFailure::InvalidArguments {
                report: "Wrong so.",
            },
            &["Wrong so."],
        ),
        (CallFailure::Malformed { message: "Bad so." }, &["Bad so."]),
        (
            CallFailure::Denied {
                reason: Some("too late"),
            },
            &[
                "`clok`",
                "user does not want",
                ": too late.",
                "Do not call it so again",
            ],
        ),
        (
            CallFailure::Forbidden { reason: None },
            &[
                "must not be called",
                "so it was not.",
                "Do not call it so again",
            ],
        ),
        (
            CallFailure::NoApprover,
            &["no one is available to approve it", "tell the user"],
        ),
        (
            CallFailure::TimedOut {
                after: Duration::from_secs(30),
            },
            &["within 30s", "cancelled", "try once more"],
        ),
        (
            CallFailure::TooManyCalls { max: 8 },
            &["only 8 are run", "next message"],
        ),
        (
            CallFailure::Interrupted {
                reason: "time is up",
            },
            &["time is up"],
        ),
        (
            CallFailure::Failed(&closed),
            &[
                "the connection to its server failed",
                "the server has ended",
                "Go on without it",
            ],
        ),
        (
            CallFailure::Failed(&refused),
            &["refused the call", "no such place", "correct it"],
        ),
        (
            CallFailure::Failed(&busy),
            &["too busy", "has not run it", "too many calls", "later"],
        ),
    ];
    for (failure, describe) in table {
        let text = error_text("clok", failure);
        for describe in describe {
            assert!(text.contains(describe), "{text}");
        }
    }
}
