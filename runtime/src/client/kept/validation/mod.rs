//! What tools return, and what they are called with, against the schemas that their server gave for it.
//!
//! The schemas come from the server and are not trusted. `plan` reads one within bounds and refuses what leads out of it,
//! `compile` makes a validator of it, `cost` says what it would take to validate a value before that is done, and
//! `validators` keeps what has been compiled.

mod compile;
mod cost;
mod dialect;
mod keyword;
mod mistake;
mod pattern;
mod plan;
mod reference;
mod validators;

pub use self::compile::{CompiledSchema, is_simple};
pub use self::mistake::{Kind, MOST, Mistake, Verdict, Wanted};
pub(in crate::client::kept) use self::validators::{Clock, Expected, Validators};
