//! Attributes that mark a method.

use syn::{Attribute, Meta};

use crate::cfg_attr;
use crate::diag::Sink;
use crate::krate::Krate;
use crate::signature::Function;
use crate::tool::parse::ImplBlock;

use super::extract;

/// Names of the attributes that mark a method.
const MARKS: [&str; 3] = ["tool", "prompt", "resource"];

/// Reports marks with the path of a crate or a module that is not known here, and removes the path. If other methods of the block are
/// marked, they are left to rustc, since they may be attributes of another crate.
pub(super) fn adopt_marks(item: &mut ImplBlock, krate: &Krate, sink: &mut Sink) {
    let is_mark = |attribute: &Attribute| {
        let is_mark = |mark| krate.is_mark(attribute.path(), mark);
        MARKS.into_iter().chain(["mcp_tool"]).any(is_mark)
    };
    let is_marked = |function: &mut Function| function.attributes.iter().any(is_mark);
    if item.functions().any(is_marked) {
        return;
    }
    let attributes = item.functions().flat_map(|it| &mut it.attributes);
    for attribute in attributes {
        let path = attribute.path().clone();
        let last = path.segments.last().map(|last| last.ident.clone());
        let Some(mark) = last.filter(|last| MARKS.iter().any(|mark| last == mark)) else {
            continue;
        };
        let message = format!(
            "the path of this mark is not that of `crate = …` on the block; write `#[{mark}]` without a path"
        );
        sink.error(&path, message);
        match &mut attribute.meta {
            Meta::Path(path) => *path = mark.into(),
            Meta::List(meta) => meta.path = mark.into(),
            Meta::NameValue(meta) => meta.path = mark.into(),
        }
    }
}

/// Takes the marks of tools. `#[mcp_tool]` on a method is reported with `message`, and read as `#[tool]`, the probable intention, so
/// that errors in the method are reported too.
pub(crate) fn tool_marks(
    attributes: &mut Vec<Attribute>,
    krate: &Krate,
    message: &str,
    sink: &mut Sink,
) -> Vec<Attribute> {
    let mut marks = extract(attributes, |mark| krate.is_mark(mark.path(), "tool"));
    for mut whole in extract(attributes, |mark| krate.is_mark(mark.path(), "mcp_tool")) {
        sink.error(whole.path(), message);
        whole.meta = Meta::Path(whole.path().clone());
        marks.push(whole);
    }
    marks
}

/// Reports marks of methods within `cfg_attr`.
pub(crate) fn reject_conditional_marks(
    attributes: &mut Vec<Attribute>,
    krate: &Krate,
    sink: &mut Sink,
) {
    let is_any_mark = |attribute: &Attribute| {
        let marks = ["tool", "prompt", "resource", "namespace", "mcp_tool"];
        marks
            .iter()
            .any(|name| krate.is_mark(attribute.path(), name))
    };
    cfg_attr::reject_marks(attributes, is_any_mark, "method", sink);
}
