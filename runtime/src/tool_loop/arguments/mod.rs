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

use std::sync::Arc;

use serde_json::Value;
use tokio::task::spawn_blocking;
use treenail_schema::{JsonObject, Tool};

use self::number::whole;
use self::repair::{Outcome, repair};
use self::report::{report, too_large};
use self::schemas::Schemas;
use crate::client::ClientLimits;
use crate::client::validation::is_simple;

/// The arguments of a call, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prepared {
    pub(crate) input: JsonObject,
    /// Why they could not be checked, if that is so; the server checks them too.
    pub(crate) unchecked: Option<String>,
}

/// Checks arguments; it keeps what it has learned of the tools.
#[derive(Debug)]
pub(crate) struct Arguments {
    limits: ClientLimits,
    schemas: Schemas,
}

impl Arguments {
    /// Of the limits, those of schemas and of validating count.
    pub(crate) fn new(limits: &ClientLimits) -> Self {
        Self {
            limits: limits.clone(),
            schemas: Schemas::default(),
        }
    }

    /// As [`prepare`](Self::prepare), on a thread for blocking work if it may take long.
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
        let (own, tool, called) = (Arc::clone(self), Arc::clone(tool), name.to_owned());
        let given = input.clone();
        let prepared = spawn_blocking(move || own.prepare(&tool, &called, given)).await;
        prepared.unwrap_or_else(|_| {
            let unchecked = Some("the check has failed".to_owned());
            Ok(Prepared { input, unchecked })
        })
    }

    /// Whether arguments are checked so quickly that it may be done at once.
    fn is_quick(&self, tool: &Tool, value: &Value) -> bool {
        let is_known = self.schemas.is_known(tool) || is_simple(&tool.input_schema);
        let compiled = is_known.then(|| self.schemas.compiled(tool, &self.limits));
        match compiled {
            Some(Ok(schema)) => schema.cheap(value, &self.limits).is_some(),
            Some(Err(_)) => true,
            None => false,
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
            Outcome::Fits(Value::Object(mut input)) => {
                whole(&mut input, root);
                Ok(Prepared {
                    input,
                    unchecked: None,
                })
            }
            Outcome::Unchecked(Value::Object(input), reason) => unchecked(input, &reason),
            Outcome::Wrong(value, mistakes) => Err(report(name, &value, &mistakes, root)),
            // Nothing that is tried makes something else of an object.
            Outcome::Fits(_) | Outcome::Unchecked(..) | Outcome::TooLarge => Err(too_large(name)),
        }
    }
}
