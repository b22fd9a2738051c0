//! JSON Pointers, and references within a JSON Schema, followed in a bounded number of steps.

mod listed;
mod pointer;
mod reference;
mod value;

use serde_json::{Map, Value};

pub use self::listed::listed_strings;
pub use self::pointer::{push_token, tokens, value_at};
pub use self::reference::{Fragment, follow, local_fragment, resolve};
pub use self::value::{only_value, other_members, schema_at, takes_only_integers, types_of};

/// A schema that is an object.
pub type Schema = Map<String, Value>;

/// Maximum number of schemas visited for one question about a schema, because schemas can be recursive.
pub const MAX_STEPS: u32 = 64;

/// Keywords that contain definitions.
pub const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
