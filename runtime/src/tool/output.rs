//! Output types of tools, and their conversion to a result.

use std::cell::Cell;
use std::error::Error;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};
use treenail_schema::internal::json_schema::resolve;
use treenail_schema::{
    AudioContent, CallToolResult, ContentBlock, EmbeddedResource, ImageContent, ResourceLink,
    TextContent,
};

use crate::function::kind::{self, Kind};
use crate::function::schema::Direction;
use crate::function::type_schema::schema_for;
use crate::function::{Output, OutputSchema};
use crate::result_writer::ResultWriter;
use crate::tool::ToolInfo;
use crate::tool::error::ToolError;
use crate::tool::reply::ToolResultWriter;
use crate::tool::shape::Shape;
use crate::tool::structured::unmark;
use crate::wire::RpcError;

/// A type that a tool can return.
///
/// - Every type that implements [`serde::Serialize`] and [`schemars::JsonSchema`]: text if its schema is a plain string
///   (`String`, `&'static str`), an empty result for `()`, otherwise structured content with a text copy and a declared output
///   schema. `None` of an `Option<String>` is an empty result. Peers of revisions before 2026-07-28 accept only objects:
///   structs, maps and tagged enums are sent unchanged, other values as `{"result": …}`
///   ([`WrapResults`](crate::WrapResults)). NaN and infinities, which JSON does not have, are a failure with `isError: true`.
/// - [`Structured`](crate::Structured), a value with content blocks of its own in place of the text copy.
/// - [`ContentBlock`] and its variants, `Vec`s and `Option`s of those, and [`CallToolResult`].
/// - `Result<T, E>` of those, where `E` is any error that converts to `Box<dyn Error + Send + Sync>`: a failure becomes a
///   result with `isError: true`, see [`ToolError`](crate::ToolError).
///
/// The items of a streaming tool implement [`ToolItem`](crate::ToolItem) instead.
///
/// The parameter `K` distinguishes the implementations and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    label = "an output needs `Serialize` and `JsonSchema`, the error of a `Result` needs `Error`",
    note = "put `#[mcp_type]` on your own types, also on the `T` of a `Structured<T>`, or return content blocks, a stream (with the key `stream`), or a `Result` of those; an error derives `thiserror::Error` or is a `ToolError`; `Box<dyn Error>` needs `+ Send + Sync`"
)]
pub trait ToolOutput<K> {
    /// Returns the JSON schema of the structured content, or `None` without structured content.
    fn schema(generator: &mut SchemaGenerator) -> Option<Value>;

    /// Writes the result.
    fn write(self, reply: &mut ToolResultWriter<'_, '_>);

    /// Returns the operations of the output as functions, so only this function needs trait bounds on the type.
    fn output(_: Kind<K>) -> Output<Self, ToolInfo>
    where
        Self: Sized,
    {
        Output {
            schema: Self::schema,
            write: write_result,
        }
    }
}

#[expect(
    clippy::unnecessary_wraps,
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of every kind of function"
)]
fn write_result<T: ToolOutput<K>, K>(
    value: T,
    info: &ToolInfo,
    (): &(),
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    info.write_output(result, |result| {
        value.write(&mut ToolResultWriter::new(result, info.shape));
    });
    Ok(())
}

/// Returns the declared schema, normalized for hosts, and the shape of its values.
pub(crate) fn declare(output: OutputSchema) -> (Option<Map<String, Value>>, Shape) {
    let (schema, shape) = describe(output);
    (schema.filter(|_| !is_undeclared(shape)), shape)
}

/// Returns the schema of values that are not declared.
#[cfg(feature = "client")]
pub(crate) fn undeclared(output: OutputSchema) -> Option<Map<String, Value>> {
    let (schema, shape) = describe(output);
    schema.filter(|_| is_undeclared(shape))
}

/// Returns true if values of a shape are only text in the result.
fn is_undeclared(shape: Shape) -> bool {
    matches!(shape, Shape::Text | Shape::Nothing)
}

/// Returns the schema, normalized for hosts, and the shape of its values.
fn describe(output: OutputSchema) -> (Option<Map<String, Value>>, Shape) {
    let mut generator = Direction::Output.generator();
    let Some(mut schema) = output(&mut generator) else {
        return (None, Shape::Any);
    };
    let is_structured = unmark(&mut schema);
    Direction::Output.tidy(&mut schema);
    let Value::Object(mut schema) = schema else {
        return (None, Shape::Any);
    };
    if let Some(definitions) = Direction::Output.definitions(&mut generator) {
        schema.insert("$defs".to_owned(), definitions);
    }
    let mut shape = if is_structured {
        Shape::of_declared(&schema)
    } else {
        Shape::of_members(&schema)
    };
    if shape == Shape::Value && is_object(&schema, &schema, &Cell::new(MAX_STEPS)) {
        schema.insert("type".to_owned(), "object".into());
        shape = Shape::Object;
    }
    (Some(schema), shape)
}

/// Returns whether a value of this type is plain text in a result, not JSON.
pub(crate) fn is_plain_text<T: JsonSchema>() -> bool {
    let mut schema = schema_for::<T>(&mut Direction::Output.generator());
    Direction::Output.tidy(&mut schema);
    Shape::of(&schema) == Shape::Text
}

/// Maximum number of references and alternatives that are followed; schemas can be recursive.
const MAX_STEPS: u32 = 256;

/// Returns whether a schema without a `type` allows only objects.
///
/// It does if each of its alternatives, or the definition in `root` to which it refers, allows only objects.
fn is_object(schema: &Map<String, Value>, root: &Map<String, Value>, steps: &Cell<u32>) -> bool {
    let Some(left) = steps.get().checked_sub(1) else {
        return false;
    };
    steps.set(left);
    if let Some(kind) = schema.get("type") {
        return kind == "object";
    }
    let inner = |schema: &Value| {
        let schema = schema.as_object();
        schema.is_some_and(|schema| is_object(schema, root, steps))
    };
    let listed = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let alternatives = ["oneOf", "anyOf"].into_iter().filter_map(listed);
    let target = schema.get("$ref").and_then(Value::as_str);
    let target = target.and_then(|target| resolve(root, target));
    let parts = listed("allOf").into_iter().flatten();
    let values = listed("enum").map_or(&[][..], Vec::as_slice);
    target.is_some_and(|target| is_object(target, root, steps))
        || parts.into_iter().any(inner)
        || alternatives
            .into_iter()
            .any(|schemas| !schemas.is_empty() && schemas.iter().all(inner))
        || (!values.is_empty() && values.iter().all(Value::is_object))
        || schema.get("const").is_some_and(Value::is_object)
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> ToolOutput<kind::JsonOutput> for T {
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        Some(schema_for::<T>(generator))
    }

    fn write(self, reply: &mut ToolResultWriter<'_, '_>) {
        reply.json(&self);
    }
}

/// Content blocks, and types that convert to them.
pub trait IntoContent {
    /// Converts the value to a complete result.
    fn into_result(self) -> CallToolResult;
}

#[diagnostic::do_not_recommend]
impl<T: IntoContent> ToolOutput<kind::ContentOutput> for T {
    fn schema(_: &mut SchemaGenerator) -> Option<Value> {
        None
    }

    fn write(self, reply: &mut ToolResultWriter<'_, '_>) {
        reply.result(self.into_result());
    }
}

impl IntoContent for CallToolResult {
    fn into_result(self) -> CallToolResult {
        self
    }
}

impl IntoContent for Vec<ContentBlock> {
    fn into_result(self) -> CallToolResult {
        CallToolResult::new(self)
    }
}

impl<T: IntoContent> IntoContent for Option<T> {
    fn into_result(self) -> CallToolResult {
        self.map_or_else(|| CallToolResult::new(Vec::new()), T::into_result)
    }
}

macro_rules! blocks {
    ($($block:ident)*) => {$(
        impl IntoContent for $block {
            fn into_result(self) -> CallToolResult {
                CallToolResult::new(vec![self.into()])
            }
        }
    )*};
}

blocks!(ContentBlock TextContent ImageContent AudioContent ResourceLink EmbeddedResource);

#[diagnostic::do_not_recommend]
impl<T, E, K> ToolOutput<kind::FallibleOutput<K>> for Result<T, E>
where
    T: ToolOutput<K>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        T::schema(generator)
    }

    fn write(self, reply: &mut ToolResultWriter<'_, '_>) {
        match self {
            Ok(value) => value.write(reply),
            Err(error) => reply.failure(ToolError::from_boxed(error.into())),
        }
    }
}
