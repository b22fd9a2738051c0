//! Reader for the result of a tool call, which is most of the work of a client.
//!
//! It reads the members that nearly all results have in one pass, without buffers. Any other text is read by serde, also a malformed
//! one: both accept the same texts, and errors are those of serde.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::{Map, Result, Value};

use crate::wire::{DEEPEST, Scanner, SyntaxError, as_string};
use crate::{
    CallToolResult, ContentBlock, Implementation, LazyObject, ResultMetaObject, ResultType,
    TextContent,
};

/// Maximum number of digits that surely fit in 64 bits.
const MAX_DIGITS: usize = 18;

/// Reads a result from its JSON text.
pub(crate) fn call_tool_result(text: &str) -> Result<CallToolResult> {
    let mut result = CallToolResult::new([]);
    read_call_tool_result(text, &mut result)?;
    Ok(result)
}

/// Reads a result from its JSON text into an empty one, because moving a result takes time.
pub fn read_call_tool_result(text: &str, result: &mut CallToolResult) -> Result<()> {
    if common(text, result).is_none() {
        *result = serde_json::from_str(text)?;
    }
    Ok(())
}

/// Returns `None` for a text that serde has to read.
fn common(text: &str, result: &mut CallToolResult) -> Option<()> {
    let mut scanner = Scanner::new(text, DEEPEST);
    let mut members = Keys::default();
    let mut seen = 0_u8;
    scanner.open_object().ok()?;
    while let Some(member) = Member::next(&mut members, &mut scanner).ok()? {
        match member {
            Member::Content => blocks(&mut scanner, &mut result.content)?,
            Member::StructuredContent => result.structured_content = Some(json(&mut scanner)?),
            Member::Meta => {
                let meta = result.meta.insert(ResultMetaObject::new());
                result_meta(&mut scanner, meta)?;
            }
            Member::IsError => {
                let value = scanner.value().ok()?;
                result.is_error = Some(serde_json::from_str(value).ok()?);
            }
            Member::ResultType => {
                let value = as_string(scanner.value().ok()?)?;
                result.result_type = Some(match &*value {
                    "complete" => ResultType::Complete,
                    _ => ResultType::from(value.into_owned()),
                });
            }
            Member::Other => drop(scanner.value().ok()?),
        }
        let bit = member as u8;
        if seen & bit != 0 {
            return None;
        }
        seen |= bit;
    }
    scanner.end().ok()?;
    // `content` is required.
    (seen & Member::Content as u8 != 0).then_some(())
}

/// Member of a result, as a bit.
#[derive(Clone, Copy)]
enum Member {
    Content = 1,
    StructuredContent = 1 << 1,
    Meta = 1 << 2,
    IsError = 1 << 3,
    ResultType = 1 << 4,
    Other = 0,
}

impl Member {
    /// Consumes the key of the next member. Most are written without white space, and need no search for their end.
    #[inline]
    fn next(
        members: &mut Keys,
        scanner: &mut Scanner<'_>,
    ) -> std::result::Result<Option<Self>, SyntaxError> {
        for (key, member) in [
            ("\"content\":", Self::Content),
            ("\"structuredContent\":", Self::StructuredContent),
            ("\"_meta\":", Self::Meta),
            ("\"isError\":", Self::IsError),
            ("\"resultType\":", Self::ResultType),
        ] {
            if members.skip(scanner, key) {
                return Ok(Some(member));
            }
        }
        let key = members.next(scanner)?;
        Ok(key.map(|key| match &*key {
            "content" => Self::Content,
            "structuredContent" => Self::StructuredContent,
            "_meta" => Self::Meta,
            "isError" => Self::IsError,
            "resultType" => Self::ResultType,
            _ => Self::Other,
        }))
    }
}

/// Keys of an open object.
#[derive(Default)]
struct Keys {
    is_started: bool,
}

impl Keys {
    #[inline]
    fn next<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
    ) -> std::result::Result<Option<Cow<'a, str>>, SyntaxError> {
        let is_first = !std::mem::replace(&mut self.is_started, true);
        scanner.next_member(is_first)
    }

    /// Consumes the next key if it is written as `key`, with quotes and a colon.
    #[inline]
    fn skip(&mut self, scanner: &mut Scanner<'_>, key: &str) -> bool {
        let is_next = scanner.skip_compact_key(!self.is_started, key);
        self.is_started |= is_next;
        is_next
    }
}

fn blocks(scanner: &mut Scanner<'_>, blocks: &mut Vec<ContentBlock>) -> Option<()> {
    scanner.open_array().ok()?;
    let mut is_first = true;
    while scanner.has_next(b']', is_first).ok()? {
        if is_first {
            // Most results have one block.
            blocks.reserve_exact(1);
        }
        is_first = false;
        block(scanner, blocks)?;
    }
    Some(())
}

fn block(scanner: &mut Scanner<'_>, blocks: &mut Vec<ContentBlock>) -> Option<()> {
    let text =
        scanner.attempt(|scanner| compact_strings(scanner, ["{\"type\":\"text\",\"text\":"]));
    match text {
        Some([text]) => blocks.push(TextContent::new(text).into()),
        None => blocks.push(any_block(scanner)?),
    }
    Some(())
}

/// Reads an object as most servers write it: without white space, with a string after each of `keys`, and nothing else.
fn compact_strings<'a, const N: usize>(
    scanner: &mut Scanner<'a>,
    keys: [&str; N],
) -> Option<[Cow<'a, str>; N]> {
    let mut strings = [const { Cow::Borrowed("") }; N];
    for (string, key) in strings.iter_mut().zip(keys) {
        if !scanner.skip_exact(key) {
            return None;
        }
        *string = as_string(scanner.value().ok()?)?;
    }
    scanner.skip_exact("}").then_some(strings)
}

fn any_block(scanner: &mut Scanner<'_>) -> Option<ContentBlock> {
    let start = scanner.open_object().ok()?;
    let (mut is_text, mut text, mut is_plain) = (false, None, true);
    let mut members = Keys::default();
    while let Some(key) = members.next(scanner).ok()? {
        let value = scanner.value().ok()?;
        match &*key {
            "type" if !is_text && value == "\"text\"" => is_text = true,
            "text" if text.is_none() => {
                text = as_string(value);
                is_plain &= text.is_some();
            }
            _ => is_plain = false,
        }
    }
    match text {
        Some(text) if is_text && is_plain => Some(TextContent::new(text).into()),
        _ => serde_json::from_str(scanner.since(start)).ok(),
    }
}

/// Most results have either the name of the server, or a mark that few programs read.
fn result_meta(scanner: &mut Scanner<'_>, meta: &mut ResultMetaObject) -> Option<()> {
    let start = scanner.open_object().ok()?;
    let (mut members, mut has_others) = (Keys::default(), false);
    loop {
        if !members.skip(scanner, "\"io.modelcontextprotocol/serverInfo\":") {
            match members.next(scanner).ok()?.as_deref() {
                Some("io.modelcontextprotocol/serverInfo") => {}
                Some(_) => {
                    scanner.value().ok()?;
                    has_others = true;
                    continue;
                }
                None => break,
            }
        }
        if meta.server_info.is_some() {
            return None;
        }
        meta.server_info = Some(implementation(scanner)?);
    }
    if has_others {
        let text = scanner.since(start);
        match LazyObject::from_scanned(text).filter(|_| meta.server_info.is_none()) {
            Some(others) => meta.extra = others,
            None => *meta = serde_json::from_str(text).ok()?,
        }
    }
    Some(())
}

/// Reads a value. Most are objects of a few scalars, which need no deserializer.
fn json(scanner: &mut Scanner<'_>) -> Option<Value> {
    if scanner.peek() != Some(b'{') {
        return scalar(scanner.value().ok()?);
    }
    scanner.open_object().ok()?;
    // Most objects have one member.
    let (mut members, mut object) = (Keys::default(), Map::with_capacity(1));
    while let Some(key) = members.next(scanner).ok()? {
        let value = scalar(scanner.value().ok()?)?;
        object.insert(key.into_owned(), value);
    }
    Some(object.into())
}

/// Reads a checked value, which is a scalar as a rule.
fn scalar(text: &str) -> Option<Value> {
    match text.as_bytes() {
        b"true" => Some(true.into()),
        b"false" => Some(false.into()),
        digits if digits.len() <= MAX_DIGITS && digits.iter().all(u8::is_ascii_digit) => {
            text.parse::<u64>().ok().map(Value::from)
        }
        _ => serde_json::from_str(text).ok(),
    }
}

fn implementation(scanner: &mut Scanner<'_>) -> Option<Implementation> {
    let compact = scanner.attempt(|scanner| {
        let [name, version] = compact_strings(scanner, ["{\"name\":", ",\"version\":"])?;
        Some(Implementation::new(name, version))
    });
    compact.or_else(|| any_implementation(scanner))
}

fn any_implementation(scanner: &mut Scanner<'_>) -> Option<Implementation> {
    let start = scanner.open_object().ok()?;
    let (mut name, mut version, mut is_plain) = (None, None, true);
    let mut members = Keys::default();
    while let Some(key) = members.next(scanner).ok()? {
        let value = scanner.value().ok()?;
        match &*key {
            "name" if name.is_none() => name = as_string(value),
            "version" if version.is_none() => version = as_string(value),
            _ => is_plain = false,
        }
        is_plain &= value.starts_with('"');
    }
    match (name, version) {
        (Some(name), Some(version)) if is_plain => Some(Implementation::new(name, version)),
        _ => serde_json::from_str(scanner.since(start)).ok(),
    }
}
