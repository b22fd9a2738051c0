//! Raw results, written in the format of the peer's revision.

use std::borrow::Cow;

use treenail_schema::CacheScope;

use super::raw::{RawOutcome, RawResult, Refusal, too_large};
use crate::completion::CompleterInfo;
use crate::function::kind;
use crate::prompt::PromptInfo;
use crate::resource::ResourceInfo;
use crate::result_writer::ResultWriter;
use crate::revision::Placement;
use crate::rewrite::{Rewritten, rewrite};
use crate::tool::ToolInfo;
use crate::tool::error::ToolError;
use crate::tool::output::ToolOutput;
use crate::tool::reply::ToolResultWriter;
use crate::tool::shape::Shape;
use crate::wire::{RpcError, is_one_line};

/// Writes the result of a tool. One that is not valid becomes a failure that the model reads.
pub(super) fn tool(
    outcome: RawOutcome,
    info: &ToolInfo,
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    match outcome {
        Ok(raw) => raw.write(&mut ToolResultWriter::new(result, info.shape)),
        Err(Refusal::Rpc(error)) => return Err(error),
        Err(Refusal::TooLarge(most)) => info.fail(too_large("tool", &info.name, most), result),
    }
    Ok(())
}

#[diagnostic::do_not_recommend]
impl ToolOutput<kind::Raw> for RawResult {
    fn schema(_: &mut schemars::SchemaGenerator) -> Option<serde_json::Value> {
        None
    }

    fn write(self, reply: &mut ToolResultWriter<'_, '_>) {
        let (result, shape) = reply.parts();
        let start = result.mark();
        if let Err(reason) = write_tool_result(self.text(), shape, result) {
            result.rewind(start);
            tracing::error!(reason, "a raw result of a tool is not valid");
            let message = format!("the result of the tool is not valid: {reason}");
            reply.failure(ToolError::new(message));
        }
    }
}

fn is_empty_array(json: &str) -> bool {
    let inside = json.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    inside.is_some_and(|inside| inside.trim().is_empty())
}

fn write_tool_result(
    text: &str,
    shape: Shape,
    result: &mut ResultWriter<'_>,
) -> Result<(), String> {
    let text = one_line(text);
    let placement = result.style().placement(shape);
    let (mut content, mut structured, mut is_error) = (None, None, false);
    let rewritten = rewrite(&text, placement, result, |key, value| {
        match key {
            "content" => {
                content = Some(value);
                return is_empty_array(value);
            }
            "structuredContent" => structured = Some(value),
            "isError" => is_error = value == "true",
            _ => {}
        }
        false
    });
    let mut rewritten = complete(rewritten.map_err(|error| error.to_string())?)?;
    if content.is_none_or(is_empty_array) {
        rewritten.key("content", result);
        // Peers that do not read structured content read the text.
        let needs_text = |it: &&str| content.is_none() || !placement.shows(it);
        match structured.filter(needs_text) {
            None => result.push(b"[]"),
            Some(structured) => {
                result.push(br#"[{"type":"text","text":"#);
                result.value(structured);
                result.push(b"}]");
            }
        }
    }
    if is_error {
        result.fail();
    }
    rewritten.end(result);
    Ok(())
}

/// Writes the result of a prompt.
pub(super) fn prompt(
    outcome: RawOutcome,
    info: &PromptInfo,
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    let raw = outcome.map_err(|refusal| refusal.into_error("prompt", &info.name))?;
    let mut has_description = false;
    let subject = ("prompt", &*info.name, "messages");
    let mut rewritten = write(&raw, subject, result, |key, _| {
        has_description |= key == "description";
        false
    })?;
    if let Some(description) = info.description.as_ref().filter(|_| !has_description) {
        rewritten.key("description", result);
        result.value(description);
    }
    rewritten.end(result);
    Ok(())
}

/// Writes the result of a resource. `authorized` is set if the caller is authorized by a token.
pub(super) fn resource(
    outcome: RawOutcome,
    info: &ResourceInfo,
    authorized: bool,
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    let raw = outcome.map_err(|refusal| refusal.into_error("resource", &info.name))?;
    let (mut ttl, mut scope) = (None, None);
    let subject = ("resource", &*info.name, "contents");
    let mut rewritten = write(&raw, subject, result, |key, value| match key {
        "ttlMs" => {
            ttl = serde_json::from_str::<u64>(value).ok();
            true
        }
        "cacheScope" => {
            scope = serde_json::from_str::<CacheScope>(value).ok();
            true
        }
        _ => false,
    })?;
    if result.style().revision().is_modern() {
        rewritten.key("ttlMs", result);
        result.value(&ttl.unwrap_or_default());
        // No cache may share the result for an authorized caller.
        rewritten.key("cacheScope", result);
        result.value(&scope.filter(|_| !authorized).unwrap_or_default());
    }
    rewritten.end(result);
    Ok(())
}

/// Writes the result of a completion.
pub(super) fn completion(
    outcome: RawOutcome,
    info: &CompleterInfo,
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    let raw = outcome.map_err(|refusal| refusal.into_error("completion of", &info.argument))?;
    let subject = ("completion of", &*info.argument, "completion");
    write(&raw, subject, result, |_, _| false)?.end(result);
    Ok(())
}

/// Writes the members of a result without the end of it, given the kind and the name of the feature and the member that is
/// required.
fn write(
    raw: &RawResult,
    (kind, name, required): (&str, &str, &str),
    result: &mut ResultWriter<'_>,
    mut omit: impl FnMut(&str, &str) -> bool,
) -> Result<Rewritten, RpcError> {
    let start = result.mark();
    let text = one_line(raw.text());
    let mut found = false;
    let rewritten = rewrite(&text, Placement::Bare, result, |key, value| {
        found |= key == required;
        omit(key, value)
    });
    let rewritten = rewritten.map_err(|error| error.to_string());
    let rewritten = rewritten.and_then(complete).and_then(|rewritten| {
        let missing = || format!("it lacks `{required}`");
        found.then_some(rewritten).ok_or_else(missing)
    });
    rewritten.map_err(|reason| {
        result.rewind(start);
        tracing::error!(kind, name, reason, "a raw result is not valid");
        RpcError::internal(format!(
            "the result of the {kind} `{name}` is not valid: {reason}"
        ))
    })
}

/// Rejects a result that requests input.
fn complete(rewritten: Rewritten) -> Result<Rewritten, String> {
    if rewritten.is_complete() {
        Ok(rewritten)
    } else {
        Err("its `resultType` is not `complete`".to_owned())
    }
}

/// Replaces line ends with spaces. Valid JSON has them between tokens only.
fn one_line(text: &str) -> Cow<'_, str> {
    if is_one_line(text.as_bytes()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.replace(['\n', '\r'], " "))
    }
}
