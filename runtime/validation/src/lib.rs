//! Validation of JSON values against untrusted JSON Schemas, with bounded work. Internal to the crates of Treenail: the
//! interface may change in any release.
//!
//! Use the crate `treenail` with the feature `validation`.
//!
//! [`CompiledSchema::new`] compiles a schema. [`CompiledSchema::verdict`] lists the violations of a value with their
//! locations, and [`CompiledSchema::validate`] describes the first one. [`is_simple`] and [`CompiledSchema::inline_cost`]
//! distinguish the work that is quick from the work for a blocking thread.
//!
//! Modules:
//!
//! - `plan`: analysis of a schema within limits, which rejects external references; `reference`: resolution of references;
//!   `place`: depth and path of a subschema.
//! - `compile`: the validator of the analysed schema.
//! - `cost`: bound on the work of validating a value, computed before the validation; `visit`: its steps.
//! - `flat`: quick acceptance of objects whose members have simple types, from their text.
//! - `violation`: violations, independent of the types of the validation library.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod compile;
mod cost;
mod dialect;
mod flat;
mod keyword;
mod pattern;
mod place;
mod plan;
mod reference;
mod size;
mod subschema;
mod violation;
mod visit;

pub use treenail_schema::internal::ValidationLimits;

pub use self::compile::{CompiledSchema, is_simple};
pub use self::cost::Cost;
pub use self::flat::FlatSchema;
pub use self::violation::{ExpectedType, MAX_VIOLATIONS, Verdict, Violation, ViolationKind};
