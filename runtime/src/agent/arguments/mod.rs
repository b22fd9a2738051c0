//! The arguments that a model gave, made to fit what a tool takes where that is safe.
//!
//! `edit` knows which other values a value can have been meant for, `repair` tries them until the schema takes the arguments,
//! and `report` tells the model what is left.

mod edit;
mod number;
mod repair;
mod report;
mod schemas;
#[cfg(test)]
mod tests;

use serde_json::Value;
use treenail_schema::{JsonObject, Tool};

use self::number::normalize_integers;
use self::repair::{Outcome, repair};
use self::report::{report, too_large};
use self::schemas::SchemaCache;
use crate::client::ClientLimits;

/// The arguments of a call, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prepared {
    pub(crate) input: JsonObject,
    /// Why they could not be checked, if that is so; the server checks them too.
    pub(crate) unchecked: Option<String>,
}

/// Checks arguments; it keeps what it has learned of the tools.
#[derive(Debug)]
pub(crate) struct ArgumentChecker {
    limits: ClientLimits,
    schemas: SchemaCache,
}

impl ArgumentChecker {
    /// Of the limits, those of schemas and of validating count.
    pub(crate) fn new(limits: &ClientLimits) -> Self {
        Self {
            limits: limits.clone(),
            schemas: SchemaCache::default(),
        }
    }

    /// Checks the arguments of a call, and repairs what can only be meant in one way; the error is for the model, which knows
    /// the tool by `name`.
    ///
    /// Arguments that are what the schema says are not changed, but for whole numbers: `3.0` becomes `3` where only an
    /// integer may stand, which is the same number, and many servers read only the latter.
    ///
    /// A schema that cannot be used, or arguments that it would take too long to check, are not the model's fault, so the
    /// call goes through as it is.
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
        let check = |value: &Value| schema.verdict(value, &self.limits);
        match repair(Value::Object(input), root, check) {
            Outcome::Valid(Value::Object(mut input)) => {
                normalize_integers(&mut input, root);
                Ok(Prepared {
                    input,
                    unchecked: None,
                })
            }
            Outcome::Unchecked(Value::Object(input), reason) => unchecked(input, &reason),
            Outcome::Invalid(value, mistakes) => Err(report(name, &value, &mistakes, root)),
            // Nothing that is tried makes something else of an object.
            Outcome::Valid(_) | Outcome::Unchecked(..) | Outcome::TooLarge => Err(too_large(name)),
        }
    }
}
