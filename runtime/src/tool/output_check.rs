//! Check of results against the declared output schema of their tool, in debug builds.

use std::sync::OnceLock;

use serde_json::Value;
use treenail_schema::internal::ValidationLimits;
use treenail_schema::{SchemaObject, Tool as Descriptor};
use treenail_validation::CompiledSchema;

use crate::revision::Placement;
use crate::tool::shape::Shape;

/// Declared output schema of a tool, compiled at its first result.
#[derive(Debug)]
pub(super) struct OutputCheck {
    tool: String,
    schema: Option<SchemaObject>,
    /// `None` if the schema cannot be compiled within the limits.
    compiled: OnceLock<Option<CompiledSchema>>,
}

impl OutputCheck {
    pub(super) fn new(descriptor: &Descriptor) -> Self {
        Self {
            tool: descriptor.name.clone(),
            schema: descriptor.output_schema.clone(),
            compiled: OnceLock::new(),
        }
    }

    /// Describes the mismatch of a written result that is not a failure. Content beyond the limits of the validation matches.
    pub(super) fn mismatch(
        &self,
        written: &[u8],
        placement: Placement,
        shape: Shape,
    ) -> Option<String> {
        let reason = check(self.compiled()?, written, placement, shape).err()?;
        let tool = &self.tool;
        tracing::error!(tool, reason, "an output does not match its output schema");
        Some(format!(
            "the output of the tool `{tool}` does not match its output schema: {reason}\n\
             Correct the value, or the schema of the output type. Debug builds check each output."
        ))
    }

    fn compiled(&self) -> Option<&CompiledSchema> {
        let schema = self.schema.as_ref()?;
        let compiled = self.compiled.get_or_init(|| {
            let compiled = CompiledSchema::new(schema, &ValidationLimits::default());
            let log = |reason| {
                tracing::error!(tool = self.tool, reason, "an output schema cannot be used");
            };
            compiled.map_err(log).ok()
        });
        compiled.as_ref()
    }
}

/// Validates the structured content of a written result. The error is the location and the expectation.
fn check(
    schema: &CompiledSchema,
    written: &[u8],
    placement: Placement,
    shape: Shape,
) -> Result<(), String> {
    // JSON that nests too deeply for this reader is not checked.
    let Ok(Value::Object(mut members)) = serde_json::from_slice(written) else {
        return Ok(());
    };
    let mut content = members.remove("structuredContent");
    if placement == Placement::Wrapped {
        content = content.and_then(|mut content| content.get_mut("result").map(Value::take));
    }
    // Without structured content, this peer has received no output schema.
    let is_undeclared =
        placement == Placement::Text || (placement == Placement::Object && shape != Shape::Object);
    match content {
        Some(content) if schema.check_value(&content).is_ok() => match schema.cost(&content) {
            Ok(cost) => schema.validate(&content, cost),
            Err(_) => Ok(()),
        },
        None if !is_undeclared => Err("the result has no structured content".to_owned()),
        Some(_) | None => Ok(()),
    }
}
