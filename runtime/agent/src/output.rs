//! Output of a run as a value of a type, which the model submits by calling a tool.

use serde::de::DeserializeOwned;
use serde_json::Value;
use treenail_runtime::internal::{JsonSchema, Problem, Submission};
use treenail_schema::internal::quoted;
use treenail_schema::{JsonObject, Role, SamplingMessage, SamplingMessageContentBlock, Tool};

use crate::arguments::report_one;

/// Name of the tool that submits the output, unless a source has a tool of this name.
pub(super) const SUBMIT: &str = "submit_output";

/// Text of the result of an accepted submission.
pub(super) const ACCEPTED: &str = "The output is accepted.";

/// Name of the argument for an output that is not a struct.
const ARGUMENT: &str = "output";

/// Description of the tool, before that of the type.
const DESCRIPTION: &str = "Submits your final output, which ends the conversation. Call it once, when the output is complete.";

/// Type of the output of a run.
#[derive(Clone, Debug)]
pub(super) struct OutputType(Submission);

impl OutputType {
    pub(super) fn of<T: DeserializeOwned + JsonSchema>() -> Self {
        Self(Submission::of::<T>(ARGUMENT))
    }

    /// Returns the definition of the tool that submits the output.
    pub(super) fn tool(&self, name: &str) -> Tool {
        let mut schema = self.0.input_schema().clone();
        let description = match schema.shift_remove("description") {
            Some(Value::String(of_type)) => format!("{DESCRIPTION}\n\n{of_type}"),
            _ => DESCRIPTION.to_owned(),
        };
        Tool::new(name, schema).with_description(description)
    }

    /// Returns the output in the arguments of a submission, or a message for the model, which knows the tool by `name`.
    pub(super) fn read(&self, name: &str, arguments: JsonObject) -> Result<Value, String> {
        let message = |problem: Problem| report_one(name, problem, self.0.input_schema());
        self.0.read(arguments).map_err(message)
    }
}

/// Message to a model that has ended with a text instead of a submission.
pub(super) fn reminder(tool: &str) -> SamplingMessage {
    let text = format!(
        "You have not submitted an output. Call the tool {} now.",
        quoted(tool)
    );
    SamplingMessage::new(Role::User, vec![SamplingMessageContentBlock::text(text)])
}
