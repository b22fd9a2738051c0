//! Compiled schema.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;
use treenail_schema::SchemaObject;
use treenail_schema::internal::ValidationLimits;

use crate::cost::{Cost, estimate_cost};
use crate::dialect::dialect;
use crate::plan::{Plan, build_plan};
use crate::size::is_larger;
use crate::violation::{Verdict, convert_errors};

/// Maximum number of characters of an error message from the validation library.
const MAX_REASON_CHARS: usize = 300;

/// Factor by which the step limit is lower when all violations are listed: describing them takes longer than detecting
/// one.
const REPORT_STEPS_DIVISOR: u64 = 64;

/// Maximum number of steps that run inline; more work runs on a blocking thread.
const MAX_INLINE_STEPS: u64 = 10_000;

/// Maximum number of values in a schema that is compiled inline.
const MAX_INLINE_SCHEMA_VALUES: usize = 1_000;

/// Compiled schema, with the limits of validating values against it.
pub struct CompiledSchema {
    validator: Validator,
    plan: Plan,
    limits: ValidationLimits,
}

impl CompiledSchema {
    /// Compiles a schema. The error is the reason for rejecting it.
    pub fn new(schema: &SchemaObject, limits: &ValidationLimits) -> Result<Self, String> {
        check_size(schema, limits)?;
        let schema = Value::Object((**schema).clone());
        let draft = dialect(&schema)?;
        let plan = build_plan(&schema, draft, limits)?;
        let pattern_bytes = limits.pattern_bytes / plan.patterns.max(1);
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(limits.pattern_backtracks)
            .size_limit(pattern_bytes)
            .dfa_size_limit(pattern_bytes);
        let options = jsonschema::options()
            .with_draft(draft)
            .with_pattern_options(patterns)
            // Other users of the library in the same program may enable features that fetch references.
            .offline();
        let compiled = catch_library_panic(|| {
            options
                .build(&schema)
                .map_err(|error| describe_rejection(&error, pattern_bytes))
        })?;
        Ok(Self {
            validator: compiled?,
            plan,
            limits: limits.clone(),
        })
    }

    /// Returns the cost of validating a value if that is low enough to run inline; otherwise the work belongs on a blocking
    /// thread.
    pub fn inline_cost(&self, value: &Value) -> Option<Cost> {
        let max_steps = self.limits.steps.min(MAX_INLINE_STEPS);
        estimate_cost(&self.plan, value, &self.limits, max_steps).ok()
    }

    /// Returns the cost of validating a value, or the reason why the value is not validated.
    pub fn cost(&self, value: &Value) -> Result<Cost, String> {
        estimate_cost(&self.plan, value, &self.limits, self.limits.steps)
    }

    /// Rejects a value that is too large to be validated. The error is the reason.
    pub fn check_value(&self, value: &Value) -> Result<(), String> {
        let max_bytes = self.limits.value_bytes;
        if is_larger(value, max_bytes) {
            return Err(format!("it is larger than {max_bytes} bytes"));
        }
        Ok(())
    }

    /// Validates a value of this cost, and finds one violation. The error is its location and reason.
    pub fn validate(&self, value: &Value, cost: Cost) -> Result<(), String> {
        if catch_library_panic(|| self.validator.is_valid(value))? {
            return Ok(());
        }
        if cost.0 > self.limits.steps / REPORT_STEPS_DIVISOR {
            return Err("it does not match, and is too large to find the location".to_owned());
        }
        match catch_library_panic(|| {
            self.validator
                .validate(value)
                .map_err(|error| describe_violation(&error))
        })? {
            Err(reason) => Err(reason),
            Ok(()) => Err("it does not match".to_owned()),
        }
    }

    /// Lists all violations of a value. The error is the reason why the value is not validated.
    pub fn verdict(&self, value: &Value) -> Result<Verdict, String> {
        self.check_value(value)?;
        let cost = self.cost(value)?;
        if catch_library_panic(|| self.validator.is_valid(value))? {
            return Ok(Verdict::Valid);
        }
        if cost.0 > self.limits.steps / REPORT_STEPS_DIVISOR {
            return Ok(Verdict::TooLarge);
        }
        catch_library_panic(|| {
            let errors = self.validator.iter_errors(value).into_errors();
            Verdict::Invalid(convert_errors(errors.iter()))
        })
    }
}

/// Returns whether a schema is small enough to be compiled inline.
pub fn is_simple(schema: &SchemaObject) -> bool {
    fn charge(schema: &Value, left: &mut usize) -> bool {
        let Some(remaining) = left.checked_sub(1) else {
            return false;
        };
        *left = remaining;
        match schema {
            Value::Array(items) => items.iter().all(|item| charge(item, left)),
            Value::Object(members) => members.iter().all(|(name, member)| {
                !name.starts_with("pattern") && !name.starts_with("uneval") && charge(member, left)
            }),
            _ => true,
        }
    }
    let mut left = MAX_INLINE_SCHEMA_VALUES;
    schema.iter().all(|(name, member)| {
        !name.starts_with("pattern") && !name.starts_with("uneval") && charge(member, &mut left)
    })
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CompiledSchema")
            .field("subschemas", &self.plan.subschemas.len())
            .finish_non_exhaustive()
    }
}

/// Describes why a schema is not compiled. `pattern_bytes` is the share of each pattern.
fn describe_rejection(error: &ValidationError<'_>, pattern_bytes: usize) -> String {
    let reason = describe_violation(error);
    // The library does not tell the two reasons apart.
    if matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex") {
        return format!(
            "{reason}, or needs more than {pattern_bytes} bytes, its share of the limit `pattern_bytes` of all patterns"
        );
    }
    reason
}

/// Describes a violation with its location, in the value or in the schema itself.
fn describe_violation(error: &ValidationError<'_>) -> String {
    let pointer = truncate(error.instance_path().as_str());
    if pointer.is_empty() {
        return describe_error(error);
    }
    format!("at `{pointer}`, {}", describe_error(error))
}

/// Returns the message of the library, without the value in question.
pub(crate) fn describe_error(error: &ValidationError<'_>) -> String {
    truncate(&error.masked().to_string())
}

fn truncate(text: &str) -> String {
    let mut characters = text.chars().filter(|character| !character.is_control());
    let mut truncated: String = characters.by_ref().take(MAX_REASON_CHARS).collect();
    if characters.next().is_some() {
        truncated.push('…');
    }
    truncated
}

/// Turns a panic of the library into an error.
fn catch_library_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| "the validator failed".to_owned())
}

fn check_size(schema: &SchemaObject, limits: &ValidationLimits) -> Result<(), String> {
    let writer = ByteLimit(limits.schema_bytes);
    serde_json::to_writer(writer, &**schema)
        .map_err(|_| format!("it is larger than {} bytes", limits.schema_bytes))
}

/// Writer that discards its input and fails after this many bytes.
struct ByteLimit(usize);

impl io::Write for ByteLimit {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        self.0 = left.ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_large_pattern_names_its_limit() {
        let limits = ValidationLimits::default().pattern_bytes(100_000);
        let of = |pattern: &str| {
            let schema = json!({"properties": {"a": {"pattern": pattern}, "b": {"pattern": "b"}}});
            let schema = serde_json::from_value(schema).unwrap();
            CompiledSchema::new(&schema, &limits).map(drop)
        };
        of("^[a-z]+$").unwrap();
        let reason = of("(\\w{50}){50}").unwrap_err();
        assert!(
            reason.contains("more than 50000 bytes, its share of the limit `pattern_bytes`"),
            "{reason}"
        );
    }
}
