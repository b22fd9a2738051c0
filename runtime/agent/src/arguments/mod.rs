//! Validation of a model's arguments, with repair where that is safe.
//!
//! `edit` proposes edits, `repair` applies them until the schema accepts the arguments, and `report` describes the
//! remaining mistakes to the model.

mod edit;
mod number;
mod repair;
mod report;
mod schemas;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value;
use tokio::task::spawn_blocking;
use treenail_runtime::client::ClientLimits;
use treenail_schema::{JsonObject, Tool};
use treenail_validation::{ValidationLimits, is_simple};

use self::number::normalize_integers;
use self::repair::{Outcome, repair};
pub(crate) use self::report::report_one;
use self::report::{report, too_large};
use self::schemas::SchemaCache;

/// Arguments of a call, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prepared {
    pub(crate) input: JsonObject,
    /// Reason why they could not be validated, if so; the server validates them too.
    pub(crate) unchecked: Option<String>,
}

/// Validates arguments, and caches the compiled schemas of the tools.
#[derive(Debug)]
pub(crate) struct ArgumentChecker {
    limits: ValidationLimits,
    schemas: SchemaCache,
}

impl ArgumentChecker {
    /// Creates a checker that uses the limits for schemas and validation.
    pub(crate) fn new(limits: &ClientLimits) -> Self {
        Self {
            limits: limits.validation.clone(),
            schemas: SchemaCache::default(),
        }
    }

    /// As [`prepare`](Self::prepare), on a blocking thread unless it is certain to be quick.
    pub(crate) async fn prepare_aside(
        self: &Arc<Self>,
        tool: &Arc<Tool>,
        name: &str,
        input: JsonObject,
    ) -> Result<Prepared, String> {
        let value = Value::Object(input);
        let quick = self.is_quick(tool, &value);
        let Value::Object(input) = value else {
            return Err(too_large(name));
        };
        if quick {
            return self.prepare(tool, name, input);
        }
        let (checker, tool, called) = (Arc::clone(self), Arc::clone(tool), name.to_owned());
        let given = input.clone();
        let prepared = spawn_blocking(move || checker.prepare(&tool, &called, given)).await;
        prepared.unwrap_or_else(|_| {
            let unchecked = Some("the check has failed".to_owned());
            Ok(Prepared { input, unchecked })
        })
    }

    /// Returns true if the arguments can be validated without holding up the thread.
    fn is_quick(&self, tool: &Tool, value: &Value) -> bool {
        let is_cached = self.schemas.contains(tool) || is_simple(&tool.input_schema);
        let compiled = is_cached.then(|| self.schemas.compiled(tool, &self.limits));
        match compiled {
            Some(Ok(schema)) => schema.inline_cost(value).is_some(),
            Some(Err(_)) => true,
            None => false,
        }
    }

    /// Validates the arguments of a call and repairs unambiguous mistakes. The error is a message for the model, which
    /// knows the tool by `name`.
    ///
    /// Valid arguments are unchanged, except for whole numbers: where only an integer is allowed, `3.0` becomes `3`. It
    /// is the same number, but many servers accept only the latter.
    ///
    /// If the schema is unusable or validation takes too long, the call passes unchanged, because the model is not at
    /// fault.
    pub(crate) fn prepare(
        &self,
        tool: &Tool,
        name: &str,
        input: JsonObject,
    ) -> Result<Prepared, String> {
        let unchecked = |input, reason: &str| {
            let unchecked = Some(reason.to_owned());
            Ok(Prepared { input, unchecked })
        };
        let root = &tool.input_schema;
        let schema = match self.schemas.compiled(tool, &self.limits) {
            Ok(schema) => schema,
            Err(reason) => return unchecked(input, &reason),
        };
        let check = |value: &Value| schema.verdict(value);
        match repair(Value::Object(input), root, check) {
            Outcome::Valid(mut value) => {
                normalize_integers(&mut value, root);
                match value {
                    Value::Object(input) => Ok(Prepared {
                        input,
                        unchecked: None,
                    }),
                    _ => Err(too_large(name)),
                }
            }
            Outcome::Unchecked(Value::Object(input), reason) => unchecked(input, &reason),
            Outcome::Invalid(value, mistakes) => Err(report(name, &value, &mistakes, root)),
            // No edit replaces the object itself.
            Outcome::Unchecked(..) | Outcome::TooLarge => Err(too_large(name)),
        }
    }
}
