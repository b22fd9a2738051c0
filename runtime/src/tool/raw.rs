//! Results of tools as JSON text, written member by member in the format of the peer's revision. Texts and numbers stay as
//! they are.

use treenail_schema::{ContentBlock, ResultMetaObject, Revision};

use crate::result_writer::ResultWriter;
use crate::revision::{Placement, downgrade_content};
use crate::tool::reply::{WRAPPED, WRAPPED_END};
use crate::wire::{Members, SyntaxError};

/// Value of `resultType` in a complete result.
pub(crate) const COMPLETE: &str = r#""complete""#;

/// Members of a result that has been written, except for its end.
#[derive(Debug, Default)]
pub(crate) struct WrittenMembers<'a> {
    /// Set if `content` was among them.
    pub(crate) content: bool,
    /// The structured content, if there was any.
    pub(crate) structured: Option<&'a str>,
    /// Set if the structured content was wrapped.
    pub(crate) wrapped: bool,
    pub(crate) is_error: bool,
    pub(crate) meta: Option<ResultMetaObject>,
    /// Set if the result is no complete one.
    pub(crate) incomplete: bool,
    /// Set after the first member.
    begun: bool,
}

impl WrittenMembers<'_> {
    /// Writes the separator before a member, and its name.
    pub(crate) fn key(&mut self, key: &str, result: &mut ResultWriter<'_>) {
        result.push(if self.begun { b"," } else { b"{" });
        self.begun = true;
        result.value(key);
        result.push(b":");
    }

    /// Writes the end of the result.
    pub(crate) fn end(self, result: &mut ResultWriter<'_>) {
        match (self.incomplete, self.wrapped) {
            (true, _) => result.end_other(self.meta.unwrap_or_default()),
            (false, true) => result.end_wrapped(self.meta),
            (false, false) => result.end(self.meta),
        }
    }
}

/// Writes the members of a result, without its end.
pub(crate) fn write_members<'a>(
    text: &'a str,
    placement: Placement,
    result: &mut ResultWriter<'_>,
) -> Result<WrittenMembers<'a>, SyntaxError> {
    let mut written = WrittenMembers::default();
    let mut members = Members::new(text)?;
    while let Some((key, value)) = members.next()? {
        match &*key {
            "_meta" => {
                written.meta = serde_json::from_str(value).ok();
                continue;
            }
            "resultType" if value == COMPLETE => continue,
            "resultType" => written.incomplete = true,
            "isError" => written.is_error = value == "true",
            "structuredContent" => {
                written.structured = Some(value);
                let is_object = value.starts_with('{');
                if placement == Placement::Text || (placement == Placement::Object && !is_object) {
                    continue;
                }
                written.wrapped = placement == Placement::Wrapped;
            }
            _ => {}
        }
        written.key(&key, result);
        match &*key {
            "content" => {
                written.content = true;
                write_content(value, result);
            }
            "structuredContent" if written.wrapped => {
                result.push(WRAPPED);
                result.push(value.as_bytes());
                result.push(WRAPPED_END);
            }
            _ => result.push(value.as_bytes()),
        }
    }
    Ok(written)
}

/// Writes content blocks, and converts those that the peer's revision does not define.
fn write_content(text: &str, result: &mut ResultWriter<'_>) {
    let revision = result.style().revision();
    if revision == Revision::LATEST {
        return result.push(text.as_bytes());
    }
    let unknown = |blocks: &[ContentBlock]| blocks.iter().any(|block| block.since() > revision);
    match serde_json::from_str::<Vec<ContentBlock>>(text) {
        Ok(blocks) if unknown(&blocks) => result.value(&downgrade_content(blocks, revision)),
        _ => result.push(text.as_bytes()),
    }
}
