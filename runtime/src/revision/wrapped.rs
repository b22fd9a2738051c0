//! Wrapping of results that are not objects, as `{"result": …}`, for peers that accept objects only.
//!
//! The format and the marks are those of Python's `FastMCP`, so that clients that support them unwrap the value.

use serde_json::{Value, json};
use treenail_schema::ResultMetaObject;
use treenail_schema::internal::WRAPPED_VALUE;

/// Policy for wrapping results that are not JSON objects as `{"result": …}`, so that they can be structured content.
///
/// It applies to structured outputs such as numbers, lists and `Option`s. A tool that returns plain text has no structured
/// content, and an output that is always an object is sent unchanged. For a type that can hold any JSON, such as
/// `serde_json::Value`, objects are sent unchanged and other values as text. The text copy contains the bare value.
///
/// The output schema in the list of tools is wrapped in the same way, and has the mark `x-fastmcp-wrap-result` of `FastMCP`.
/// The `_meta` of a wrapped result contains `{"fastmcp": {"wrap_result": true}}`, also as in `FastMCP`. Clients made with
/// Treenail or `FastMCP` unwrap the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrapResults {
    /// Never wraps. Peers of revisions before 2026-07-28 receive such results as text, without an output schema.
    Never,
    /// Wraps for peers of 2025-06-18 and 2025-11-25, where structured content must be an object. Peers of 2026-07-28 receive
    /// the bare values.
    #[default]
    Legacy,
    /// Wraps for those peers and for peers of 2026-07-28. Meant for hosts and proxies that still expect an object there.
    Always,
}

/// Mark of a wrapped result: a member of its `_meta`, and the flag in that member.
const RESULT_MARK: (&str, &str) = ("fastmcp", "wrap_result");

/// Members of the `_meta` of most wrapped results, as servers write them. They are recognized without being parsed.
const USUAL_MARK: &str = r#"{"fastmcp":{"wrap_result":true}}"#;

/// Adds the mark of a wrapped result to its `_meta`.
pub(crate) fn mark_wrapped(meta: &mut ResultMetaObject) {
    if is_marked(Some(meta)) {
        return;
    }
    let (member, flag) = RESULT_MARK;
    let marks = meta.extra.entry(member).or_insert_with(|| json!({}));
    if let Some(marks) = marks.as_object_mut() {
        marks.insert(flag.to_owned(), true.into());
    }
}

/// Removes the mark of a wrapped result from its `_meta`.
pub(crate) fn unmark_wrapped(meta: &mut ResultMetaObject) {
    if !is_marked(Some(meta)) {
        return;
    }
    let (member, flag) = RESULT_MARK;
    if let Some(marks) = meta.extra.get_mut(member).and_then(Value::as_object_mut) {
        marks.remove(flag);
        if marks.is_empty() {
            meta.extra.remove(member);
        }
    }
}

/// Returns the member of `_meta` that marks a wrapped result.
pub(super) fn wrapped_mark() -> (&'static str, Value) {
    let (member, flag) = RESULT_MARK;
    (member, json!({ flag: true }))
}

/// Returns whether the `_meta` of a result marks it as wrapped.
pub(crate) fn is_marked(meta: Option<&ResultMetaObject>) -> bool {
    let Some(members) = meta.map(|meta| &meta.extra) else {
        return false;
    };
    if members.unparsed() == Some(USUAL_MARK) {
        return true;
    }
    let (member, flag) = RESULT_MARK;
    let marks = members.get(member);
    marks.and_then(|marks| marks.get(flag)) == Some(&Value::Bool(true))
}

/// Returns the value in structured content that may be wrapped.
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
        mark_wrapped(&mut meta);
        assert!(is_marked(Some(&meta)));
        assert_eq!(
            meta.extra["fastmcp"],
            json!({"tags": ["a"], "wrap_result": true})
        );
    }

    #[test]
    fn a_mark_is_removed_and_others_stay() {
        let mut meta = ResultMetaObject::new();
        mark_wrapped(&mut meta);
        unmark_wrapped(&mut meta);
        assert_eq!(meta, ResultMetaObject::new());
        meta.extra
            .insert("fastmcp".to_owned(), json!({"tags": ["a"]}));
        let others = meta.clone();
        mark_wrapped(&mut meta);
        unmark_wrapped(&mut meta);
        assert_eq!(meta, others);
        unmark_wrapped(&mut meta);
        assert_eq!(meta, others, "without a mark");
    }
}
