//! One schema of a tool, ready to validate what the tool returns, or what it is called with.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;
use treenail_schema::SchemaObject;

use crate::client::ClientLimits;
use crate::client::kept::validation::cost::{Cost, cost, is_larger};
use crate::client::kept::validation::dialect::dialect;
use crate::client::kept::validation::mistake::{Verdict, mistakes};
use crate::client::kept::validation::plan::{Plan, plan};

/// Why a schema, or a value, does not pass: the words of a library about it are cut here.
const LONGEST: usize = 300;

/// How much less a value may take if all that is wrong with it is to be told: to find the words takes longer than to find
/// that there is something.
const FEW: u64 = 64;

/// Steps that are done at once, and not on a thread for blocking work.
const AT_ONCE: u64 = 10_000;

/// Values in a schema that is compiled at once.
const SIMPLE: usize = 1_000;

/// A schema of a tool.
pub struct CompiledSchema {
    validator: Validator,
    plan: Plan,
}

impl CompiledSchema {
    /// Compiles a schema; the error tells what is wrong with it.
    pub fn new(schema: &SchemaObject, limits: &ClientLimits) -> Result<Self, String> {
        check_size(schema, limits)?;
        let schema = Value::Object((**schema).clone());
        let draft = dialect(&schema)?;
        let plan = plan(&schema, draft, limits)?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(limits.validation.pattern_backtracks)
            .size_limit(limits.validation.pattern_bytes / plan.patterns.max(1))
            .dfa_size_limit(limits.validation.pattern_bytes / plan.patterns.max(1));
        let options = jsonschema::options()
            .with_draft(draft)
            .with_pattern_options(patterns)
            // Whatever other users of the library in the same program want of it.
            .offline();
        let compiled = guarded(|| options.build(&schema).map_err(|error| words(&error)))?;
        Ok(Self {
            validator: compiled?,
            plan,
        })
    }

    /// Whether validating a value takes so little that it may be done at once.
    pub fn is_cheap(&self, value: &Value, limits: &ClientLimits) -> bool {
        self.cheap(value, limits).is_some()
    }

    /// Counts what it takes to validate a value, if that is so little that it may be done at once, whoever waits for it.
    pub(super) fn cheap(&self, value: &Value, limits: &ClientLimits) -> Option<Cost> {
        let most = limits.validation.steps.min(AT_ONCE);
        cost(&self.plan, value, limits, most).ok()
    }

    /// Counts what it takes to validate a value; the error tells why that is not done.
    pub(super) fn cost(&self, value: &Value, limits: &ClientLimits) -> Result<Cost, String> {
        cost(&self.plan, value, limits, limits.validation.steps)
    }

    /// Validates what a tool has returned; the error tells where it is wrong, and why.
    pub(super) fn validate(
        &self,
        value: &Value,
        cost: Cost,
        limits: &ClientLimits,
    ) -> Result<(), String> {
        if guarded(|| self.validator.is_valid(value))? {
            return Ok(());
        }
        if cost.0 > limits.validation.steps / FEW {
            return Err("it does not fit, and is too large to tell where".to_owned());
        }
        match guarded(|| {
            self.validator
                .validate(value)
                .map_err(|error| place(&error))
        })? {
            Err(place) => Err(place),
            Ok(()) => Err("it does not fit".to_owned()),
        }
    }

    /// All that is wrong with a value; the error tells why it was not validated.
    pub fn verdict(&self, value: &Value, limits: &ClientLimits) -> Result<Verdict, String> {
        check_value(value, limits)?;
        let cost = self.cost(value, limits)?;
        if guarded(|| self.validator.is_valid(value))? {
            return Ok(Verdict::Valid);
        }
        if cost.0 > limits.validation.steps / FEW {
            return Ok(Verdict::TooLarge);
        }
        guarded(|| {
            let errors = self.validator.iter_errors(value).into_errors();
            Verdict::Wrong(mistakes(errors.iter()))
        })
    }
}

/// Whether a schema is compiled so quickly that it may be done at once, whoever waits for it.
pub fn is_simple(schema: &SchemaObject) -> bool {
    fn take(schema: &Value, left: &mut usize) -> bool {
        let Some(rest) = left.checked_sub(1) else {
            return false;
        };
        *left = rest;
        match schema {
            Value::Array(items) => items.iter().all(|item| take(item, left)),
            Value::Object(members) => members.iter().all(|(name, member)| {
                !name.starts_with("pattern") && !name.starts_with("uneval") && take(member, left)
            }),
            _ => true,
        }
    }
    let mut left = SIMPLE;
    schema.iter().all(|(name, member)| {
        !name.starts_with("pattern") && !name.starts_with("uneval") && take(member, &mut left)
    })
}

/// Refuses a value that is too large to be validated.
pub(super) fn check_value(value: &Value, limits: &ClientLimits) -> Result<(), String> {
    let most = limits.validation.value_bytes;
    if is_larger(value, most) {
        return Err(format!("it is larger than {most} bytes"));
    }
    Ok(())
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CompiledSchema")
            .field("subschemas", &self.plan.parts.len())
            .finish_non_exhaustive()
    }
}

/// Where a value is wrong, and what was expected there.
fn place(error: &ValidationError<'_>) -> String {
    let pointer = cut(error.instance_path().as_str());
    if pointer.is_empty() {
        return words(error);
    }
    format!("at `{pointer}`, {}", words(error))
}

/// What the library says, without the value that it says it of.
pub(super) fn words(error: &ValidationError<'_>) -> String {
    cut(&error.masked().to_string())
}

fn cut(text: &str) -> String {
    let mut characters = text.chars().filter(|character| !character.is_control());
    let mut cut: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() {
        cut.push('…');
    }
    cut
}

/// Keeps a panic of the library from ending more than this one use of it.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| "the validator failed".to_owned())
}

fn check_size(schema: &SchemaObject, limits: &ClientLimits) -> Result<(), String> {
    let room = Room(limits.validation.schema_bytes);
    serde_json::to_writer(room, &**schema)
        .map_err(|_| format!("it is longer than {} bytes", limits.validation.schema_bytes))
}

/// Takes so many bytes, and forgets them.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        self.0 = left.ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
