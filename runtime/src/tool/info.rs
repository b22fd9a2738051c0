//! Metadata that only tools have, and the information about a tool that its calls need.

use std::sync::Arc;

use serde_json::Value;
use treenail_schema::{SchemaObject, Tool as Descriptor, ToolAnnotations};

use crate::call::Call;
use crate::function::FeatureKind;
use crate::function::argument_error::{Problem, format_problems, short_value};
use crate::panic::unexpected;
use crate::policy::Policy;
use crate::result_writer::ResultWriter;
use crate::task::TaskTool;
use crate::tool::error::ToolError;
#[cfg(all(debug_assertions, feature = "schema-validation"))]
use crate::tool::output_check::OutputCheck;
use crate::tool::reply::ToolResultWriter;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

/// Metadata that only tools have.
#[derive(Debug, Default)]
pub struct ToolDetails {
    pub(super) annotations: Option<ToolAnnotations>,
    /// Additional keywords of the input schema.
    pub(super) schema: Option<Value>,
    pub(super) policy: Policy,
    pub(super) task: Option<Arc<dyn TaskTool>>,
}

/// Information about a tool that its calls need.
#[derive(Debug)]
pub struct ToolInfo {
    pub(crate) name: String,
    input_schema: SchemaObject,
    pub(crate) shape: Shape,
    #[cfg(all(debug_assertions, feature = "schema-validation"))]
    output_check: OutputCheck,
}

impl FeatureKind for ToolInfo {
    type Details = ToolDetails;
    type WriteContext = ();

    fn write_context(_: &Call<'_>) {}

    /// Reports invalid arguments in a tool result, so that the model can correct its call.
    fn reject(
        &self,
        problems: &[Problem],
        arguments: Option<&str>,
        result: &mut ResultWriter<'_>,
    ) -> Result<(), RpcError> {
        let heading = format!("Wrong arguments for the tool `{}`:", self.name);
        let arguments = arguments.and_then(short_value).unwrap_or_default();
        let report = format_problems(heading, problems, &arguments, &self.input_schema);
        self.fail(report + "\nCorrect them and call the tool again.", result);
        Ok(())
    }

    fn on_panic(&self, message: &str, result: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        self.fail(unexpected("tool", &self.name, message), result);
        Ok(())
    }
}

impl ToolInfo {
    pub(crate) fn new(descriptor: &Descriptor, shape: Shape) -> Self {
        Self {
            name: descriptor.name.clone(),
            input_schema: descriptor.input_schema.clone(),
            shape,
            #[cfg(all(debug_assertions, feature = "schema-validation"))]
            output_check: OutputCheck::new(descriptor),
        }
    }

    /// Writes the output of a call with `write`. Debug builds that can validate it replace an output that does not match the declared
    /// schema with a failure.
    #[inline]
    #[cfg_attr(
        not(all(debug_assertions, feature = "schema-validation")),
        allow(clippy::unused_self, reason = "other builds do not check")
    )]
    pub(crate) fn write_output<'o>(
        &self,
        result: &mut ResultWriter<'o>,
        write: impl FnOnce(&mut ResultWriter<'o>),
    ) {
        #[cfg(all(debug_assertions, feature = "schema-validation"))]
        let start = result.mark();
        write(result);
        #[cfg(all(debug_assertions, feature = "schema-validation"))]
        self.check_output(start, result);
    }

    /// Replaces the result since `start` with a failure if it does not match the declared output schema.
    #[cfg(all(debug_assertions, feature = "schema-validation"))]
    fn check_output(&self, start: usize, result: &mut ResultWriter<'_>) {
        if result.has_failed() {
            return;
        }
        let placement = result.style().placement(self.shape);
        let written = &result.out()[start..];
        if let Some(problem) = self.output_check.mismatch(written, placement, self.shape) {
            result.rewind(start);
            self.fail(problem, result);
        }
    }

    pub(crate) fn fail(&self, message: String, result: &mut ResultWriter<'_>) {
        ToolResultWriter::new(result, self.shape).failure(ToolError::new(message));
    }
}
