//! Conversion of results in the format of the newest revision to that of the peer, member by member.

use treenail_schema::{ContentBlock, PromptMessage, ResultMetaObject, Tool};

use crate::result_writer::ResultWriter;
use crate::revision::{Placement, downgrade_block, downgrade_content};
use crate::tool::reply::{WRAPPED, WRAPPED_END};
use crate::wire::{Members, SyntaxError};

const COMPLETE: &str = r#""complete""#;

/// Returns `true` unless the `resultType` is that of an incomplete result.
pub(super) fn is_complete(text: &str) -> bool {
    member(text, "resultType").is_none_or(|kind| kind == COMPLETE)
}

/// Returns the text of a member of a result.
pub(super) fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut members = Members::new(text).ok()?;
    while let Some((key, value)) = members.next().ok()? {
        if key == name {
            return Some(value);
        }
    }
    None
}

/// Rewrites a result for the peer's revision. Texts and numbers stay unchanged.
pub(super) fn rewrite(
    text: &str,
    placement: Placement,
    result: &mut ResultWriter<'_>,
) -> Result<(), SyntaxError> {
    let is_modern = result.style().revision().is_modern();
    let (mut meta, mut separator, mut wrapped) = (None, "{", false);
    let mut members = Members::new(text)?;
    while let Some((key, value)) = members.next()? {
        let wraps = match (&*key, placement) {
            ("_meta", _) => {
                meta = serde_json::from_str::<ResultMetaObject>(value).ok();
                continue;
            }
            ("resultType", _) if value == COMPLETE => continue,
            ("ttlMs" | "cacheScope", _) if !is_modern => continue,
            ("structuredContent", Placement::Text) => continue,
            ("structuredContent", Placement::Object) if !value.starts_with('{') => continue,
            ("structuredContent", Placement::Wrapped) => true,
            _ => false,
        };
        result.push(separator.as_bytes());
        result.value(&*key);
        result.push(b":");
        if wraps {
            result.push(WRAPPED);
            result.push(value.as_bytes());
            result.push(WRAPPED_END);
            wrapped = true;
        } else {
            write_member(&key, value, result);
        }
        separator = ",";
    }
    if separator == "{" {
        // A result without members of its own.
        result.push(b"{");
    }
    match is_complete(text) {
        true if wrapped => result.end_wrapped(meta),
        true => result.end(meta),
        false => result.end_other(meta.unwrap_or_default()),
    }
    Ok(())
}

/// Writes the value of a member, and converts the parts that the peer's revision does not define.
fn write_member(key: &str, value: &str, result: &mut ResultWriter<'_>) {
    let style = result.style();
    let revision = style.revision();
    let is_new = |block: &ContentBlock| block.since() > revision;
    match key {
        "content" => match serde_json::from_str::<Vec<ContentBlock>>(value) {
            Ok(blocks) if blocks.iter().any(is_new) => {
                result.value(&downgrade_content(blocks, revision));
            }
            _ => result.push(value.as_bytes()),
        },
        "messages" => match serde_json::from_str::<Vec<PromptMessage>>(value) {
            Ok(mut messages) if messages.iter().any(|one| is_new(&one.content)) => {
                for message in &mut messages {
                    downgrade_block(&mut message.content, revision);
                }
                result.value(&messages);
            }
            _ => result.push(value.as_bytes()),
        },
        "tools" => match serde_json::from_str::<Vec<Tool>>(value) {
            Ok(tools) => {
                let tools: Vec<Tool> = tools.iter().map(|tool| style.tool(tool)).collect();
                result.value(&tools);
            }
            Err(_) => result.push(value.as_bytes()),
        },
        _ => result.push(value.as_bytes()),
    }
}
