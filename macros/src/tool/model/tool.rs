//! Keys that only tools have.

use syn::Expr;

use crate::args::{Attr, Keys};
use crate::diag::Sink;
use crate::tool::model::task::Task;

const HINTS: [&str; 4] = ["read_only", "destructive", "idempotent", "open_world"];

/// Keys that only tools have.
pub(crate) struct Tool {
    pub(crate) hints: Vec<Hint>,
    pub(crate) timeout: Option<Attr<Expr>>,
    pub(crate) max_concurrency: Option<Attr<Expr>>,
    pub(crate) task: Option<Task>,
    /// Additional keywords for the schema of the arguments.
    pub(crate) schema: Option<Expr>,
}

/// A behaviour hint of a tool, such as `read_only`.
pub(crate) struct Hint {
    pub(crate) name: &'static str,
    pub(crate) given: Attr<bool>,
}

impl Tool {
    pub(super) fn read(keys: &mut Keys, sink: &mut Sink) -> Self {
        let hint = |name| keys.flag(name, sink).map(|given| Hint { name, given });
        Self {
            hints: HINTS.into_iter().filter_map(hint).collect(),
            timeout: keys.expr_attr("timeout", sink),
            max_concurrency: keys.expr_attr("max_concurrency", sink),
            task: Task::read(keys, sink),
            schema: keys.expr("schema", sink),
        }
    }
}
