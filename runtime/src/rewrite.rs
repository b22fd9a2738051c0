//! Conversion of results in the format of the newest revision to that of the peer, member by member. Texts and numbers stay
//! unchanged.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use treenail_schema::{ContentBlock, PromptMessage, ResultMetaObject, Revision, Tool};

use crate::result_writer::ResultWriter;
use crate::revision::{Placement, downgrade_block};
use crate::tool::reply::{WRAPPED, WRAPPED_END};
use crate::wire::{Members, SyntaxError, read_json};

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
                rewritten.meta = read_json::<ResultMetaObject>(value).ok();
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
    match key {
        "content" if revision < Revision::LATEST => {
            return write_blocks::<ContentBlock>(value, result, |block| block);
        }
        "messages" if revision < Revision::LATEST => {
            return write_blocks::<PromptMessage>(value, result, |message| &mut message.content);
        }
        "tools" => {
            if let Ok(tools) = read_json::<Vec<Tool>>(value) {
                let tools: Vec<Tool> = tools.iter().map(|tool| style.tool(tool)).collect();
                return result.value(&tools);
            }
        }
        _ => {}
    }
    result.push(value.as_bytes());
}

/// Writes a list, and replaces the content blocks that the peer's revision does not define. An element that cannot be read is written
/// as it is.
fn write_blocks<T: DeserializeOwned + Serialize>(
    text: &str,
    result: &mut ResultWriter<'_>,
    block_of: fn(&mut T) -> &mut ContentBlock,
) {
    let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(text) else {
        return result.push(text.as_bytes());
    };
    let revision = result.style().revision();
    let mut separator: &[u8] = b"[";
    for element in &elements {
        result.push(std::mem::replace(&mut separator, b","));
        let read = read_json::<T>(element.get()).ok();
        let is_new = |read: &mut T| block_of(read).since() > revision;
        let Some(mut read) = read.and_then(|mut read| is_new(&mut read).then_some(read)) else {
            result.push(element.get().as_bytes());
            continue;
        };
        downgrade_block(block_of(&mut read), revision);
        result.value(&read);
    }
    if elements.is_empty() {
        result.push(b"[");
    }
    result.push(b"]");
}
