//! Structured content that is no object, for peers that take objects only: `{"result": …}`, the form that servers in Python
//! give it. The marks are those of `FastMCP`, so that clients which know them take the value out again.

use serde_json::{Value, json};
use treenail_schema::ResultMetaObject;
use treenail_schema::internal::WRAPPED_VALUE;

/// When results that are no JSON objects are wrapped in one, as `{"result": …}`, so that they can be structured content.
///
/// It is about outputs that are structured: numbers, lists, `Option`s and the like. A tool that returns a plain text has no
/// structured content, and an output that always is an object goes as it is. Of a type that can be anything, such as
/// `serde_json::Value`, objects go as they are and other values as text. The text copy is that of the value alone.
///
/// The output schema in the list of tools is wrapped likewise, and carries the mark `x-fastmcp-wrap-result` that `FastMCP`
/// gives such schemas; the `_meta` of a result has `FastMCP`'s `{"fastmcp": {"wrap_result": true}}`. Clients made with Treenail
/// or `FastMCP` take the value out again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrapResults {
    /// Never. Peers of the revisions before 2026-07-28 get such results as text, without an output schema.
    Never,
    /// For peers of 2025-06-18 and 2025-11-25, where structured content has to be an object; those of 2026-07-28 get the
    /// values as they are.
    #[default]
    Legacy,
    /// For these, and for peers of 2026-07-28 as well: for hosts and proxies that still expect an object there.
    Always,
}

/// The mark of a wrapped result: a member of its `_meta`, and the flag in there.
const RESULT_MARK: (&str, &str) = ("fastmcp", "wrap_result");

/// Adds the mark of a wrapped result to its `_meta`.
pub(crate) fn mark(meta: &mut ResultMetaObject) {
    let (member, flag) = RESULT_MARK;
    let marks = meta.extra.entry(member).or_insert_with(|| json!({}));
    if let Some(marks) = marks.as_object_mut() {
        marks.insert(flag.to_owned(), true.into());
    }
}

/// The member of `_meta` that is the mark of a wrapped result.
pub(super) fn marks() -> (&'static str, Value) {
    let (member, flag) = RESULT_MARK;
    (member, json!({ flag: true }))
}

/// Whether the `_meta` of a result says that it is wrapped.
pub(crate) fn is_marked(meta: Option<&ResultMetaObject>) -> bool {
    let (member, flag) = RESULT_MARK;
    let marks = meta.and_then(|meta| meta.extra.get(member));
    marks.and_then(|marks| marks.get(flag)) == Some(&Value::Bool(true))
}

/// The value in structured content that may be wrapped, whoever has wrapped it.
pub(crate) fn wrapped_value(content: &Value) -> Option<&Value> {
    let members = content.as_object().filter(|members| members.len() == 1)?;
    members.get(WRAPPED_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_added_beside_others() {
        let mut meta = ResultMetaObject::new();
        assert!(!is_marked(None) && !is_marked(Some(&meta)));
        meta.extra
            .insert("fastmcp".to_owned(), json!({"tags": ["a"]}));
        mark(&mut meta);
        assert!(is_marked(Some(&meta)));
        assert_eq!(
            meta.extra["fastmcp"],
            json!({"tags": ["a"], "wrap_result": true})
        );
    }
}
