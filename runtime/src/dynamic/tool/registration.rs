//! Registration of a complete tool in a namespace.

use std::sync::Arc;

use serde_json::Value;

use super::Tool;
use crate::dynamic::checked::Matching;
use crate::dynamic::{Bound, Feature};
use crate::function::{Function, Output};
use crate::naming::full_name;
use crate::registered::Registered;
use crate::stream::{Fold, Form};
use crate::task::declare_task;
use crate::tool::ToolInfo;
use crate::tool::header_params::header_params;
use crate::tool::output::declare;
use crate::tool::shape::Shape;

impl Tool {
    pub(super) fn validated<T>(
        mut self,
        output: Output<T, ToolInfo>,
        function: impl FnOnce(Matching, Output<T, ToolInfo>) -> Function<(), ToolInfo>,
    ) -> Feature {
        let schema = &self.descriptor.input_schema;
        let (arguments, outcome) = Matching::new(schema, &self.limits);
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        self.problem = self.problem.and(outcome).and_then(|()| {
            is_object
                .then_some(())
                .ok_or_else(|| "its input schema lacks `\"type\": \"object\"`".to_owned())
        });
        self.feature(function(arguments, output))
    }

    /// Checks that a declared output allows the combined items of a stream.
    pub(super) fn combining(mut self, form: Form, fold: Fold) -> Self {
        let (combined, name) = match fold {
            Fold::Collect => ("an array of all items", "array"),
            Fold::Concat => ("one text of all items", "string"),
            Fold::Last => return self,
        };
        let declared = self.descriptor.output_schema.as_ref();
        let is_allowed = match declared.and_then(|schema| schema.get("type")) {
            Some(Value::String(kind)) => kind == name,
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
            _ => true,
        };
        if form != Form::Content && !is_allowed {
            let problem = format!(
                "its output schema does not allow {combined} of its stream; choose another `Tool::fold`, such as \
                 `Fold::Concat` for the parts of a string"
            );
            self.problem = self.problem.and(Err(problem));
        }
        self
    }

    pub(super) fn feature(self, function: Function<(), ToolInfo>) -> Feature {
        let name = self.descriptor.name.clone();
        Feature::new("tool", &name, move |namespace| {
            self.bind(function, namespace).map(Bound::Tool)
        })
    }

    fn bind(
        self,
        function: Function<(), ToolInfo>,
        namespace: &str,
    ) -> Result<Registered<treenail_schema::Tool>, String> {
        let mut descriptor = self.descriptor;
        let name = full_name("tool", namespace, &descriptor.name)?;
        let checked = self
            .problem
            .and_then(|()| header_params(&descriptor.input_schema).map(drop));
        checked.map_err(|problem| format!("tool `{name}`: {problem}"))?;
        let policy = self.policy.check(&name)?;
        descriptor.name = name;
        declare_task(&mut descriptor, self.task.as_ref());
        let shape = if let Some(schema) = &descriptor.output_schema {
            Shape::of_declared(schema)
        } else {
            let (schema, shape) = declare(function.output_schema);
            descriptor.output_schema = schema.map(Into::into);
            shape
        };
        let bound = Registered::new(descriptor, move |descriptor| {
            function.bind(Arc::new(()), ToolInfo::new(descriptor, shape))
        });
        let bound = bound.with_policy(policy).with_task(self.task);
        Ok(bound.with_scopes(self.scopes))
    }
}
