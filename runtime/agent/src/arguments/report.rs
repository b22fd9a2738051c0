//! Messages to the model about invalid arguments.

use serde_json::{Map, Value};
use treenail_runtime::internal::{self, Problem, to_problems};
use treenail_schema::internal::quoted;
use treenail_validation::Violation;

/// Describes all mistakes, in the words that a Treenail server uses.
pub(super) fn report(
    tool: &str,
    value: &Value,
    mistakes: &[Violation],
    root: &Map<String, Value>,
) -> String {
    let (reported, has_more) = to_problems(value, mistakes, root);
    describe(tool, &reported, has_more, root)
}

/// Describes problems with the arguments of a call.
pub(crate) fn describe(
    tool: &str,
    problems: &[Problem],
    has_more: bool,
    root: &Map<String, Value>,
) -> String {
    let heading = format!("Wrong arguments for the tool {}:", quoted(tool));
    let mut text = internal::format_problems(heading, problems, root);
    if has_more {
        text.push_str("\n- and more");
    }
    text + "\nCorrect them and call the tool again."
}

/// Message for arguments that are too large to locate the mistakes.
pub(super) fn too_large(tool: &str) -> String {
    format!(
        "Wrong arguments for the tool {}: they do not fit its schema, and are too large to tell where.\n\
        Send less at once, and call the tool again.",
        quoted(tool)
    )
}
