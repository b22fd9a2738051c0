//! Validation of the results and arguments of tools against the schemas of their server.
//!
//! The schemas come from the server and are not trusted. `plan` analyses a schema within limits and rejects one with
//! outside references. `compile` builds a validator from it. `cost` bounds the work of validating a value before it
//! starts, and `validators` caches the compiled schemas.

mod compile;
mod cost;
mod dialect;
mod keyword;
mod pattern;
mod plan;
mod reference;
mod size;
mod subschema;
mod validators;
mod violation;
mod visit;

pub use self::compile::{CompiledSchema, is_simple};
pub(in crate::client::cache) use self::validators::{ExpectedOutput, RequestClock, ValidatorCache};
pub use self::violation::{ExpectedType, MAX_VIOLATIONS, Verdict, Violation, ViolationKind};
