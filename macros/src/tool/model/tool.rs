//! What only a tool has.

use syn::Expr;

use crate::args::{Given, Keys};
use crate::diag::Sink;

const HINTS: [&str; 4] = ["read_only", "destructive", "idempotent", "open_world"];

/// What only a tool has.
pub(crate) struct Tool {
    pub(crate) hints: Vec<Hint>,
    pub(crate) timeout: Option<Given<Expr>>,
    pub(crate) max_concurrency: Option<Given<Expr>>,
    /// What the schema of the arguments says beside them.
    pub(crate) schema: Option<Expr>,
}

/// Something that a tool says of itself, like `read_only`.
pub(crate) struct Hint {
    pub(crate) name: &'static str,
    pub(crate) given: Given<bool>,
}

impl Tool {
    pub(super) fn read(keys: &mut Keys, sink: &mut Sink) -> Self {
        let hint = |name| keys.flag(name, sink).map(|given| Hint { name, given });
        Self {
            hints: HINTS.into_iter().filter_map(hint).collect(),
            timeout: keys.given_expr("timeout", sink),
            max_concurrency: keys.given_expr("max_concurrency", sink),
            schema: keys.expr("schema", sink),
        }
    }
}
