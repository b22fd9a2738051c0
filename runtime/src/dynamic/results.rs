//! Raw results, written in the format of the peer's revision.

use std::borrow::Cow;

use treenail_schema::{CacheScope, PromptMessage, ResultMetaObject, Revision};

use super::raw::{RawOutcome, RawResult, Refusal, too_large};
use crate::completion::CompleterInfo;
use crate::function::kind;
use crate::prompt::PromptInfo;
use crate::resource::ResourceInfo;
use crate::result_writer::ResultWriter;
use crate::revision::downgrade_block;
use crate::tool::ToolInfo;
use crate::tool::error::ToolError;
use crate::tool::output::ToolOutput;
use crate::tool::raw::{COMPLETE, write_members};
use crate::tool::reply::ToolResultWriter;
use crate::tool::shape::Shape;
use crate::wire::{Members, RpcError, is_one_line};

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

fn write_tool_result(
    text: &str,
    shape: Shape,
    result: &mut ResultWriter<'_>,
) -> Result<(), String> {
    let text = one_line(text);
    let placement = result.style().placement(shape);
    let mut written = write_members(&text, placement, result).map_err(|error| error.to_string())?;
    if written.incomplete {
        return Err("its `resultType` is not `complete`".to_owned());
    }
    if !written.content {
        written.key("content", result);
        match written.structured {
            None => result.push(b"[]"),
            // Peers that do not read structured content read the text.
            Some(structured) => {
                result.push(br#"[{"type":"text","text":"#);
                result.value(structured);
                result.push(b"}]");
            }
        }
    }
    if written.is_error {
        result.fail();
    }
    written.end(result);
    Ok(())
}

/// Writes the result of a prompt.
pub(super) fn prompt(
    outcome: RawOutcome,
    info: &PromptInfo,
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    let raw = outcome.map_err(|refusal| refusal.into_error("prompt", &info.name))?;
    let mut object = Object::new("prompt", &info.name, "messages");
    let meta = object.write(&raw, result, |key, value, result| match key {
        "messages" => write_messages(value, result),
        _ => result.push(value.as_bytes()),
    })?;
    if let Some(description) = info.description.as_ref().filter(|_| !object.description) {
        result.push(br#","description":"#);
        result.value(description);
    }
    result.end(meta);
    Ok(())
}

/// Writes messages, and converts content that the peer's revision does not define.
fn write_messages(text: &str, result: &mut ResultWriter<'_>) {
    let revision = result.style().revision();
    if revision != Revision::LATEST {
        if let Ok(mut messages) = serde_json::from_str::<Vec<PromptMessage>>(text) {
            let contents = || messages.iter().map(|message| &message.content);
            if contents().any(|content| content.since() > revision) {
                for message in &mut messages {
                    downgrade_block(&mut message.content, revision);
                }
                return result.value(&messages);
            }
        }
    }
    result.push(text.as_bytes());
}

/// Writes the result of a resource. `authorized` is set if the caller is authorized by a token.
pub(super) fn resource(
    outcome: RawOutcome,
    info: &ResourceInfo,
    authorized: bool,
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    let raw = outcome.map_err(|refusal| refusal.into_error("resource", &info.name))?;
    let mut object = Object::new("resource", &info.name, "contents");
    let mut hints = CacheHints::default();
    let meta = object.write(&raw, result, |_, value, result| {
        result.push(value.as_bytes());
    })?;
    hints.read(&object.cache_hints);
    if result.style().revision().is_modern() {
        hints.write(authorized, result);
    }
    result.end(meta);
    Ok(())
}

/// Writes the result of a completion.
pub(super) fn completion(
    outcome: RawOutcome,
    info: &CompleterInfo,
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    let raw = outcome.map_err(|refusal| refusal.into_error("completion of", &info.argument))?;
    let mut object = Object::new("completion of", &info.argument, "completion");
    let meta = object.write(&raw, result, |_, value, result| {
        result.push(value.as_bytes());
    })?;
    result.end(meta);
    Ok(())
}

/// Time for which a client may cache a result, and whether users may share it.
#[derive(Default)]
struct CacheHints {
    ttl_ms: u64,
    scope: CacheScope,
}

impl CacheHints {
    fn read(&mut self, [ttl, scope]: &[Option<String>; 2]) {
        fn parsed<T: serde::de::DeserializeOwned>(text: Option<&String>) -> Option<T> {
            serde_json::from_str(text?).ok()
        }
        self.ttl_ms = parsed(ttl.as_ref()).unwrap_or_default();
        self.scope = parsed(scope.as_ref()).unwrap_or_default();
    }

    /// Writes the hints. No cache may share the result for an authorized caller.
    fn write(&self, authorized: bool, result: &mut ResultWriter<'_>) {
        let scope = if authorized {
            CacheScope::Private
        } else {
            self.scope
        };
        let (ttl, scope) = (self.ttl_ms, scope.as_str());
        result.push(format!(",\"ttlMs\":{ttl},\"cacheScope\":\"{scope}\"").as_bytes());
    }
}

/// Writer of a result that is an object with one required member.
struct Object<'a> {
    kind: &'a str,
    name: &'a str,
    required: &'a str,
    /// Set if there was a `description`.
    description: bool,
    /// The texts of `ttlMs` and `cacheScope`, which are not written.
    cache_hints: [Option<String>; 2],
}

impl<'a> Object<'a> {
    fn new(kind: &'a str, name: &'a str, required: &'a str) -> Self {
        Self {
            kind,
            name,
            required,
            description: false,
            cache_hints: [None, None],
        }
    }

    /// Writes the members, without the end of the object. Returns its `_meta`.
    fn write(
        &mut self,
        raw: &RawResult,
        result: &mut ResultWriter<'_>,
        write: impl Fn(&str, &str, &mut ResultWriter<'_>),
    ) -> Result<Option<ResultMetaObject>, RpcError> {
        let start = result.mark();
        self.members(raw.text(), result, write).map_err(|reason| {
            result.rewind(start);
            let (kind, name) = (self.kind, self.name);
            tracing::error!(kind, name, reason, "a raw result is not valid");
            RpcError::internal(format!(
                "the result of the {kind} `{name}` is not valid: {reason}"
            ))
        })
    }

    fn members(
        &mut self,
        text: &str,
        result: &mut ResultWriter<'_>,
        write: impl Fn(&str, &str, &mut ResultWriter<'_>),
    ) -> Result<Option<ResultMetaObject>, String> {
        let text = one_line(text);
        let (mut meta, mut found, mut separator) = (None, false, "{");
        let mut members = Members::new(&text).map_err(|error| error.to_string())?;
        while let Some((key, value)) = members.next().map_err(|error| error.to_string())? {
            match &*key {
                "_meta" => {
                    meta = serde_json::from_str(value).ok();
                    continue;
                }
                "resultType" if value == COMPLETE => continue,
                "resultType" => return Err("its `resultType` is not `complete`".to_owned()),
                "ttlMs" => {
                    self.cache_hints[0] = Some(value.to_owned());
                    continue;
                }
                "cacheScope" => {
                    self.cache_hints[1] = Some(value.to_owned());
                    continue;
                }
                "description" => self.description = true,
                required if required == self.required => found = true,
                _ => {}
            }
            result.push(separator.as_bytes());
            result.value(&*key);
            result.push(b":");
            write(&key, value, result);
            separator = ",";
        }
        if !found {
            return Err(format!("it lacks `{}`", self.required));
        }
        Ok(meta)
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
