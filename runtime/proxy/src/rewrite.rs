//! URIs and `_meta` inside of results. Everything else of a result is passed on as its server wrote it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use treenail_runtime::internal::Members as MembersInOrder;

use crate::link::RESERVED;

/// Kind of a result, which determines the places of its URIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultKind {
    Tool,
    Prompt,
    Resource,
    Completion,
}

/// Replaces the URIs of a result for which `replace` returns another one. A result without any is not copied.
pub(crate) fn rewrite_uris(
    kind: ResultKind,
    text: String,
    mut replace: impl FnMut(&str) -> Option<String>,
) -> String {
    if kind == ResultKind::Completion || memmem::find(text.as_bytes(), b"\"uri\"").is_none() {
        return text;
    }
    let Some(found) = uris(kind, &text) else {
        return text;
    };
    let mut changed: Option<String> = None;
    let mut done = 0;
    for raw in found {
        let Ok(uri) = serde_json::from_str::<Cow<'_, str>>(raw) else {
            continue;
        };
        let Some(other) = replace(&uri) else {
            continue;
        };
        let start = raw.as_ptr() as usize - text.as_ptr() as usize;
        let out = changed.get_or_insert_with(|| String::with_capacity(text.len() + 64));
        out.push_str(&text[done..start]);
        out.push_str(&serde_json::Value::from(other).to_string());
        done = start + raw.len();
    }
    match changed {
        Some(mut out) => {
            out.push_str(&text[done..]);
            out
        }
        None => text,
    }
}

/// Removes the members of `_meta` of a result that belong to one hop, such as the name of the server. A result that cannot have any is not
/// copied.
pub(crate) fn without_reserved_meta(text: String) -> String {
    // The slash may be escaped. Other characters are escaped by their number.
    let name = RESERVED.trim_end_matches('/').as_bytes();
    let may_occur = |part: &[u8]| memmem::find(text.as_bytes(), part).is_some();
    if !may_occur(name) && !may_occur(b"\\u") {
        return text;
    }
    with_passed_meta(&text).unwrap_or(text)
}

/// Returns a copy of a result with the members of `_meta` that pass; `None` if it is no object.
fn with_passed_meta(text: &str) -> Option<String> {
    let mut members = MembersInOrder::new(text).ok()?;
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    while let Some((key, value)) = members.next().ok()? {
        let start = value.as_ptr() as usize - text.as_ptr() as usize;
        // The name of the member, with its quotes and the colon.
        let name = text[done..start].trim_start_matches(['{', ',', ' ', '\t', '\r', '\n']);
        done = start + value.len();
        let value = match &*key {
            "_meta" => passed_meta(value),
            _ => Cow::Borrowed(value),
        };
        if value == "{}" && key == "_meta" {
            continue;
        }
        out.push(if out.is_empty() { '{' } else { ',' });
        out.push_str(name);
        out.push_str(&value);
    }
    if out.is_empty() {
        out.push('{');
    }
    out.push('}');
    Some(out)
}

/// Returns the JSON text of `_meta` without the members that belong to one hop.
fn passed_meta(text: &str) -> Cow<'_, str> {
    let passed = || {
        let mut meta: JsonMembers<'_> = serde_json::from_str(text).ok()?;
        meta.retain(|key, _| !key.starts_with(RESERVED));
        serde_json::to_string(&meta).ok()
    };
    passed().map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Removes the members of a result that allow a cache to reuse it. Text that is no object is returned as it is.
pub(crate) fn without_cache_hints(text: String) -> String {
    let Ok(mut members) = serde_json::from_str::<JsonMembers<'_>>(&text) else {
        return text;
    };
    members.retain(|name, _| name != "ttlMs" && name != "cacheScope");
    let rewritten = serde_json::to_string(&members);
    rewritten.unwrap_or(text)
}

/// Members of an object, by their names.
pub(crate) type JsonMembers<'a> = BTreeMap<String, &'a RawValue>;

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    contents: Option<&'a RawValue>,
    #[serde(borrow, default)]
    messages: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    resource: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// Returns the JSON texts of the URIs in a result, in the order of the text; `None` if it does not have the form of its kind.
fn uris(kind: ResultKind, text: &str) -> Option<Vec<&str>> {
    let result: Members<'_> = serde_json::from_str(text).ok()?;
    let mut found = Vec::new();
    match kind {
        ResultKind::Tool => add_blocks(result.content?, &mut found)?,
        ResultKind::Resource => add_blocks(result.contents?, &mut found)?,
        ResultKind::Prompt => {
            let messages: Vec<Block<'_>> = serde_json::from_str(result.messages?.get()).ok()?;
            for message in messages {
                add_blocks(message.content?, &mut found)?;
            }
        }
        ResultKind::Completion => {}
    }
    // A block may have its own URI after the one of its resource.
    found.sort_unstable_by_key(|uri| uri.as_ptr());
    Some(found)
}

/// Adds the URIs of one block or of an array of blocks.
fn add_blocks<'a>(blocks: &'a RawValue, found: &mut Vec<&'a str>) -> Option<()> {
    let blocks = blocks.get();
    let blocks: Vec<Block<'a>> = if blocks.starts_with('[') {
        serde_json::from_str(blocks).ok()?
    } else {
        vec![serde_json::from_str(blocks).ok()?]
    };
    for block in blocks {
        if let Some(uri) = block.uri {
            found.push(uri.get());
        }
        let embedded = block.resource.and_then(|resource| {
            let resource: Option<Block<'a>> = serde_json::from_str(resource.get()).ok();
            resource?.uri
        });
        found.extend(embedded.map(RawValue::get));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(uri: &str) -> Option<String> {
        uri.starts_with("data:").then(|| format!("x+{uri}"))
    }

    #[test]
    fn the_meta_of_a_result_loses_the_members_of_one_hop() {
        let table = [
            (
                r#"{"content":[],"_meta":{"io.modelcontextprotocol\/serverInfo":{"name":5},"a/b":1.0}}"#,
                r#"{"content":[],"_meta":{"a/b":1.0}}"#,
            ),
            (
                r#"{ "_meta" : {"io.modelcontextprotoco\u006c/serverInfo":{}} , "b" : [ 1.0 ], "a":{}, "_m\u0065ta":{"io.modelcontextprotocol/x":1} }"#,
                r#"{"b" : [ 1.0 ],"a":{}}"#,
            ),
            (r#"{"_meta":{"io.modelcontextprotocol/x":1}}"#, "{}"),
            (
                r#"{"a": "io.modelcontextprotocol/serverInfo"}"#,
                r#"{"a": "io.modelcontextprotocol/serverInfo"}"#,
            ),
            ("\"\\u0041\"", "\"\\u0041\""),
            (
                r#"{"a": "io.modelcontextprotocol/","_meta": 5}"#,
                r#"{"a": "io.modelcontextprotocol/","_meta": 5}"#,
            ),
        ];
        for (result, expected) in table {
            assert_eq!(without_reserved_meta(result.to_owned()), expected);
        }
    }

    #[test]
    fn the_uris_of_every_kind_of_result_are_replaced() {
        let table = [
            (
                ResultKind::Tool,
                r#"{"content":[{"type":"resource_link","name":"a","uri":"data:\u0061"},{"type":"text","text":"\"uri\": \"data:b\""},{"type":"resource","resource":{"uri":"data:c","text":"uri"}}],"structuredContent":{"uri":"data:d"}}"#,
                r#"{"content":[{"type":"resource_link","name":"a","uri":"x+data:a"},{"type":"text","text":"\"uri\": \"data:b\""},{"type":"resource","resource":{"uri":"x+data:c","text":"uri"}}],"structuredContent":{"uri":"data:d"}}"#,
            ),
            (
                ResultKind::Tool,
                r#"{"content":[{"type":"resource","resource":{"uri":"data:c"},"uri":"data:a"}]}"#,
                r#"{"content":[{"type":"resource","resource":{"uri":"x+data:c"},"uri":"x+data:a"}]}"#,
            ),
            (
                ResultKind::Prompt,
                r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"data:a"}}},{"role":"user","content":{"type":"resource_link","uri":"other:b"}}]}"#,
                r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"x+data:a"}}},{"role":"user","content":{"type":"resource_link","uri":"other:b"}}]}"#,
            ),
            (
                ResultKind::Resource,
                r#"{ "contents": [ {"uri": "data:a", "text": "\u0041  b"} ], "ttlMs": 1.0 }"#,
                r#"{ "contents": [ {"uri": "x+data:a", "text": "\u0041  b"} ], "ttlMs": 1.0 }"#,
            ),
        ];
        for (kind, text, expected) in table {
            assert_eq!(rewrite_uris(kind, text.to_owned(), prefix), expected);
        }
    }

    #[test]
    fn a_result_of_another_form_stays_as_it_is() {
        for text in [
            r#"{"content":"uri","uri":3}"#,
            r#"["uri"]"#,
            r#"{"content":[{"uri":3}]}"#,
        ] {
            assert_eq!(
                rewrite_uris(ResultKind::Tool, text.to_owned(), prefix),
                text
            );
        }
    }
}
