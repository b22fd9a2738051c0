//! Messages to the model about invalid arguments.

use serde_json::{Map, Value};
use treenail_runtime::internal::{self, Problem, to_problems};
use treenail_schema::internal::quoted;
use treenail_validation::Violation;

/// End of a message about mistakes.
const CORRECT: &str = "\nCorrect them and call the tool again.";

/// Describes all mistakes, in the words that a Treenail server uses.
pub(super) fn report(
    tool: &str,
    value: &Value,
    mistakes: &[Violation],
    root: &Map<String, Value>,
) -> String {
    let (reported, has_more) = to_problems(value, mistakes, root);
    let more = if has_more { "\n- and more" } else { "" };
    describe(tool, &reported, value, root) + more + CORRECT
}

/// Describes the problem with the arguments of a call, which are unknown.
pub(crate) fn report_one(tool: &str, problem: Problem, root: &Map<String, Value>) -> String {
    describe(tool, &[problem], &Value::Null, root) + CORRECT
}

fn describe(tool: &str, problems: &[Problem], value: &Value, root: &Map<String, Value>) -> String {
    let heading = format!("Wrong arguments for the tool {}:", quoted(tool));
    internal::format_problems(heading, problems, value, root)
}

/// Message for arguments that are too large to locate the mistakes.
pub(super) fn too_large(tool: &str) -> String {
    format!(
        "Wrong arguments for the tool {}: they do not fit its schema, and are too large to tell where.\n\
        Send less at once, and call the tool again.",
        quoted(tool)
    )
}
