//! Output types of resources, and their conversion to a result.

use std::error::Error;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};
use treenail_schema::{
    BlobResourceContents, CacheScope, ReadResourceResult, ResourceContents, TextResourceContents,
};

use crate::function::kind::{self, Kind};
use crate::function::run::to_rpc_error;
use crate::function::schema::Direction;
use crate::function::type_schema::schema_for;
use crate::function::{Output, OutputSchema};
use crate::resource::{ReadContext, ResourceInfo, bytes};
use crate::result_writer::ResultWriter;
use crate::revision::resource_not_found;
use crate::tool::shape::Shape;
use crate::wire::{RpcError, WriteJson, escape_in_place, quoted};

/// A type that a resource can return.
///
/// - Every type that implements [`serde::Serialize`] and [`schemars::JsonSchema`]: text if its schema is a plain string
///   (`String`, `&'static str`), binary data if its schema is a list of `u8` (`Vec<u8>`, `&'static [u8]`), otherwise its JSON
///   as text. `None` means that the resource does not exist.
/// - [`ResourceContents`], [`TextResourceContents`], [`BlobResourceContents`], a `Vec` of the first, and
///   [`ReadResourceResult`]; an `Option` of those, where `None` or an empty `Vec` means that the resource does not exist.
/// - `Result<T, E>` of those, where `E` is any error that converts to `Box<dyn Error + Send + Sync>`: its message becomes an
///   internal error (-32603); an [`RpcError`] is returned unchanged, unless 2026-07-28 has retired
///   its code.
///
/// The parameter `K` distinguishes the implementations and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a resource",
    label = "an output needs `Serialize` and `JsonSchema`, the error of a `Result` needs `Error`",
    note = "put `#[mcp_type]` on your own types, or return text, bytes, `ResourceContents`, or a `Result` of those; an error derives `thiserror::Error` or is an `RpcError`; `Box<dyn Error>` needs `+ Send + Sync`"
)]
pub trait ResourceOutput<K>: Sized {
    /// Returns the JSON schema of the values, or `None` if they are contents already.
    fn schema(generator: &mut SchemaGenerator) -> Option<Value>;

    /// Writes the result.
    fn write(self, reply: &mut ResourceReply<'_, '_>) -> Result<(), RpcError>;

    /// Returns the operations of the output as functions, so only this function needs trait bounds on the type.
    fn output(_: Kind<K>) -> Output<Self, ResourceInfo> {
        Output {
            schema: Self::schema,
            write: write_result,
        }
    }
}

fn write_result<T: ResourceOutput<K>, K>(
    value: T,
    info: &ResourceInfo,
    context: &ReadContext,
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    value.write(&mut ResourceReply {
        info,
        context,
        result,
    })
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> ResourceOutput<kind::JsonOutput> for T {
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        Some(schema_for::<T>(generator))
    }

    fn write(self, reply: &mut ResourceReply<'_, '_>) -> Result<(), RpcError> {
        reply.value(&self)
    }
}

/// Resource contents, and types that convert to them.
pub trait IntoContents {
    /// Converts the value to a complete result, or `None` if the resource does not exist.
    fn into_read(self) -> Option<ReadResourceResult>;
}

#[diagnostic::do_not_recommend]
impl<T: IntoContents> ResourceOutput<kind::ContentOutput> for T {
    fn schema(_: &mut SchemaGenerator) -> Option<Value> {
        None
    }

    fn write(self, reply: &mut ResourceReply<'_, '_>) -> Result<(), RpcError> {
        match self.into_read() {
            Some(read) if !read.contents.is_empty() => reply.result(read),
            _ => return Err(reply.not_found()),
        }
        Ok(())
    }
}

impl IntoContents for ReadResourceResult {
    fn into_read(self) -> Option<ReadResourceResult> {
        Some(self)
    }
}

impl IntoContents for Vec<ResourceContents> {
    fn into_read(self) -> Option<ReadResourceResult> {
        Some(ReadResourceResult::new(self))
    }
}

impl<T: IntoContents> IntoContents for Option<T> {
    fn into_read(self) -> Option<ReadResourceResult> {
        self?.into_read()
    }
}

macro_rules! contents {
    ($($contents:ident)*) => {$(
        impl IntoContents for $contents {
            fn into_read(self) -> Option<ReadResourceResult> {
                vec![ResourceContents::from(self)].into_read()
            }
        }
    )*};
}

contents!(ResourceContents TextResourceContents BlobResourceContents);

#[diagnostic::do_not_recommend]
impl<T, E, K> ResourceOutput<kind::FallibleOutput<K>> for Result<T, E>
where
    T: ResourceOutput<K>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        T::schema(generator)
    }

    fn write(self, reply: &mut ResourceReply<'_, '_>) -> Result<(), RpcError> {
        self.map_err(to_rpc_error)?.write(reply)
    }
}

/// Encoding of the values as resource contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentKind {
    /// A string, sent as text, or null.
    Text,
    /// A list of bytes, sent as base64, or null.
    Bytes,
    /// Any other value, sent as JSON text.
    Json,
    /// Contents that define their own encoding.
    Contents,
}

impl ContentKind {
    pub(crate) fn of(output: OutputSchema) -> Self {
        let Some(mut schema) = output(&mut Direction::Output.generator()) else {
            return Self::Contents;
        };
        // `uint8` is a format that the normalization below removes.
        if schema["items"]["format"] == "uint8" {
            return Self::Bytes;
        }
        Direction::Output.tidy(&mut schema);
        match Shape::of(&schema) {
            Shape::Text => Self::Text,
            _ => Self::Json,
        }
    }

    /// Returns the default media type, if the encoding implies one.
    pub(crate) fn mime_type(self) -> Option<&'static str> {
        (self == Self::Json).then_some("application/json")
    }
}

/// Writes the result of reading one resource.
#[derive(Debug)]
pub struct ResourceReply<'a, 'o> {
    info: &'a ResourceInfo,
    context: &'a ReadContext,
    result: &'a mut ResultWriter<'o>,
}

impl ResourceReply<'_, '_> {
    /// Writes a value as text or binary data.
    fn value<T: Serialize>(&mut self, value: &T) -> Result<(), RpcError> {
        self.result.push(br#"{"contents":[{"uri":"#);
        self.result.value(&*self.context.uri);
        if let Some(mime_type) = &self.info.mime_type {
            self.result.push(br#","mimeType":"#);
            self.result.value(&**mime_type);
        }
        if let Some(meta) = &self.info.content_meta {
            self.result.push(br#","_meta":"#);
            self.result.push(meta.as_bytes());
        }
        let written = match self.info.kind {
            ContentKind::Text => self.text(value),
            ContentKind::Bytes => {
                self.result.push(br#","blob":""#);
                bytes::write(value, self.result.out())
            }
            ContentKind::Json | ContentKind::Contents => self.json(value),
        };
        match written {
            Ok(true) => {}
            Ok(false) => return Err(self.not_found()),
            Err(error) => {
                let message = format!("the output could not be written: {error}");
                return Err(RpcError::internal(message));
            }
        }
        self.result.push(br#""}]"#);
        self.end(ReadResourceResult::new([]));
        Ok(())
    }

    /// Writes a string as text, up to its closing quote. Returns false if it is null.
    fn text(&mut self, value: &dyn WriteJson) -> serde_json::Result<bool> {
        let start = self.result.mark();
        self.result.push(br#","text":"#);
        let text = self.result.mark();
        value.write_json(self.result.out())?;
        if self.result.out()[text] == b'"' {
            self.result.rewind(self.result.mark() - 1);
            return Ok(true);
        }
        // The value is null, or it contradicts its schema and its JSON becomes the text.
        self.result.rewind(start);
        self.json(value)
    }

    /// Writes the JSON of a value as text, up to its closing quote. Returns false if it is null.
    fn json(&mut self, value: &dyn WriteJson) -> serde_json::Result<bool> {
        self.result.push(br#","text":""#);
        let text = self.result.mark();
        value.write_json(self.result.out())?;
        escape_in_place(self.result.out(), text);
        Ok(&self.result.out()[text..] != b"null")
    }

    /// Writes a complete result.
    #[inline]
    fn result(&mut self, read: ReadResourceResult) {
        self.result.push(br#"{"contents":"#);
        self.result.value(&read.contents);
        self.end(read);
    }

    /// Writes the end of the result. Without cache settings of its own, the result must not be cached.
    fn end(&mut self, read: ReadResourceResult) {
        if self.result.style().revision().is_modern() {
            let ttl = read.ttl_ms.unwrap_or_default();
            let scope = read.cache_scope.filter(|_| !self.context.authorized);
            let scope = json!(scope.unwrap_or(CacheScope::Private));
            let hints = format!(",\"ttlMs\":{ttl},\"cacheScope\":{scope}");
            self.result.push(hints.as_bytes());
        }
        self.result.end(read.meta);
    }

    fn not_found(&self) -> RpcError {
        let ReadContext { uri, revision, .. } = self.context;
        let message = format!("resource {} was not found", quoted(uri));
        resource_not_found(uri, message, *revision)
    }
}
