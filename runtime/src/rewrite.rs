//! Conversion of results in the format of the newest revision to that of the peer, member by member. Texts and numbers stay
//! unchanged.

use serde::de::DeserializeOwned;
use treenail_schema::{ContentBlock, PromptMessage, ResultMetaObject, Revision, Tool};

use crate::result_writer::ResultWriter;
use crate::revision::{Placement, downgrade_block, downgrade_content};
use crate::tool::reply::{WRAPPED, WRAPPED_END};
use crate::wire::{Members, SyntaxError};

const COMPLETE: &str = r#""complete""#;

/// Returns `true` unless the `resultType` is that of an incomplete result.
#[cfg(feature = "tower")]
pub(crate) fn is_complete(text: &str) -> bool {
    member(text, "resultType").is_none_or(|kind| kind == COMPLETE)
}

/// Returns `true` if the result is that of a request that has become a task.
#[cfg(feature = "tower")]
pub(crate) fn is_task(text: &str) -> bool {
    member(text, "resultType") == Some(r#""task""#)
}

/// Returns the text of a member of a result.
pub(crate) fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut members = Members::new(text).ok()?;
    while let Some((key, value)) = members.next().ok()? {
        if key == name {
            return Some(value);
        }
    }
    None
}

/// Result whose members have been written, except for its end.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    meta: Option<ResultMetaObject>,
    /// Set if structured content was wrapped.
    wrapped: bool,
    /// Set if the result is not complete, because the server asks the client for input first.
    incomplete: bool,
    /// Set after the first member.
    begun: bool,
}

impl Rewritten {
    /// Returns `false` if the server asks the client for input first.
    #[cfg(feature = "dynamic")]
    pub(crate) fn is_complete(&self) -> bool {
        !self.incomplete
    }

    /// Writes the separator before a member, and its name.
    pub(crate) fn key(&mut self, key: &str, result: &mut ResultWriter<'_>) {
        result.push(if self.begun { b"," } else { b"{" });
        self.begun = true;
        result.value(key);
        result.push(b":");
    }

    /// Writes the end of the result.
    #[inline]
    pub(crate) fn end(self, result: &mut ResultWriter<'_>) {
        if !self.begun {
            // A result without members of its own.
            result.push(b"{");
        }
        match (self.incomplete, self.wrapped) {
            (true, _) if !result.style().revision().is_modern() => {
                let own = |meta: &ResultMetaObject| *meta != ResultMetaObject::default();
                result.end(self.meta.filter(own));
            }
            (true, _) => result.end_other(self.meta.unwrap_or_default()),
            (false, true) => result.end_wrapped(self.meta),
            (false, false) => result.end(self.meta),
        }
    }
}

/// Writes the members of a result for the peer's revision. Omits a member if `omit`, given its name and text, returns true.
pub(crate) fn rewrite<'a>(
    text: &'a str,
    placement: Placement,
    result: &mut ResultWriter<'_>,
    mut omit: impl FnMut(&str, &'a str) -> bool,
) -> Result<Rewritten, SyntaxError> {
    let is_modern = result.style().revision().is_modern();
    let mut rewritten = Rewritten::default();
    let mut members = Members::new(text)?;
    while let Some((key, value)) = members.next()? {
        if omit(&key, value) {
            continue;
        }
        let wraps = match (&*key, placement) {
            ("_meta", _) => {
                rewritten.meta = serde_json::from_str::<ResultMetaObject>(value).ok();
                continue;
            }
            ("resultType", _) if value == COMPLETE => continue,
            ("resultType", _) if !is_modern => {
                rewritten.incomplete = true;
                continue;
            }
            ("ttlMs" | "cacheScope", _) if !is_modern => continue,
            ("structuredContent", placement) if !placement.shows(value) => continue,
            ("structuredContent", Placement::Wrapped) => true,
            _ => false,
        };
        rewritten.incomplete |= key == "resultType";
        rewritten.key(&key, result);
        if wraps {
            result.push(WRAPPED);
            result.push(value.as_bytes());
            result.push(WRAPPED_END);
            rewritten.wrapped = true;
        } else {
            write_member(&key, value, result);
        }
    }
    Ok(rewritten)
}

/// Writes the value of a member, and converts the parts that the peer's revision does not define.
#[inline]
fn write_member(key: &str, value: &str, result: &mut ResultWriter<'_>) {
    let style = result.style();
    let revision = style.revision();
    let is_new = |block: &ContentBlock| block.since() > revision;
    match key {
        "content" => {
            let read = read_if_older::<ContentBlock>(value, revision);
            if let Some(blocks) = read.filter(|blocks| blocks.iter().any(is_new)) {
                return result.value(&downgrade_content(blocks, revision));
            }
        }
        "messages" => {
            let read = read_if_older::<PromptMessage>(value, revision);
            let is_new = |messages: &Vec<PromptMessage>| {
                messages.iter().any(|message| is_new(&message.content))
            };
            if let Some(mut messages) = read.filter(is_new) {
                for message in &mut messages {
                    downgrade_block(&mut message.content, revision);
                }
                return result.value(&messages);
            }
        }
        "tools" => {
            if let Ok(tools) = serde_json::from_str::<Vec<Tool>>(value) {
                let tools: Vec<Tool> = tools.iter().map(|tool| style.tool(tool)).collect();
                return result.value(&tools);
            }
        }
        _ => {}
    }
    result.push(value.as_bytes());
}

/// Parses a list that an older revision may not define completely.
fn read_if_older<T: DeserializeOwned>(text: &str, revision: Revision) -> Option<Vec<T>> {
    let is_older = revision < Revision::LATEST;
    is_older.then(|| serde_json::from_str(text).ok()).flatten()
}
