//! Parse errors of native calls, as messages for the model.

use treenail_schema::internal::quoted;
use treenail_schema::{SamplingMessageContentBlock as Block, ToolUseContent};

use super::as_tool_use;
use crate::raw_arguments::parse_error;

/// Returns the parse error of each call in native content, as a message for the model.
pub(super) fn describe_problems(content: &[&Block], cut_off: bool) -> Vec<Option<String>> {
    let uses = content.iter().filter_map(|block| as_tool_use(block));
    let mut problems: Vec<_> = uses.map(describe_problem).collect();
    let end = content.last().and_then(|block| as_tool_use(block));
    if let (true, Some(tool_use), Some(problem)) = (cut_off, end, problems.last_mut()) {
        if tool_use.input.is_empty() && problem.is_none() {
            let name = quoted(&tool_use.name);
            *problem = Some(format!(
                "The call of {name} was cut off before its arguments, and was not run.\nMake the call again, in a shorter \
                 message."
            ));
        }
    }
    problems
}

/// Returns the parse error of a call, as a message for the model.
fn describe_problem(tool_use: &ToolUseContent) -> Option<String> {
    let why = parse_error(tool_use)?;
    let name = quoted(&tool_use.name);
    Some(format!(
        "The call of {name} could not be parsed and was not run: {why}.\nMake the call again, with one JSON object as its \
         arguments."
    ))
}
