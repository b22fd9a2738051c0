//! Items of streaming tools.

use std::error::Error;
use std::fmt;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};
use treenail_schema::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent,
};

use crate::function::kind::{self, Kind};
use crate::function::schema::Direction;
use crate::function::type_schema::schema_for;
use crate::function::{Output, OutputSchema};
use crate::result_writer::ResultWriter;
use crate::stream::collected::{Collected, Fold, Form, Stop};
use crate::tool::ToolInfo;
use crate::tool::error::ToolError;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

/// An item of a streaming tool.
///
/// The type decides how the items are combined, unless the tool sets `fold`:
///
/// | item | result |
/// |---|---|
/// | types that implement [`serde::Serialize`] and [`schemars::JsonSchema`] | an array as structured content, with a text copy and a declared output schema (`collect`); nothing for `()` |
/// | [`ContentBlock`] and its variants | all blocks (`collect`) |
/// | `Result<T, E>` of those, where `E` is any error that converts to `Box<dyn Error + Send + Sync>` | as for `T`; the first failure ends the stream |
///
/// The parameter `K` distinguishes the implementations and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a tool's stream",
    label = "an item needs `Serialize` and `JsonSchema`",
    note = "put `#[mcp_type]` on your own types, or stream content blocks, or a `Result` of either with an `Error`; `Box<dyn Error>` needs `+ Send + Sync`"
)]
pub trait ToolItem<K>: Sized {
    /// Returns the JSON schema of one item, or `None` for content blocks.
    fn schema(generator: &mut SchemaGenerator) -> Option<Value>;

    /// Adds the item to the collected ones.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "only this crate calls it")]
    fn add(self, collected: &mut Collected) -> Result<(), Stop>;

    /// Returns the operations of the items as functions, so only this function needs trait bounds on the type.
    #[doc(hidden)]
    fn items(_: Kind<K>, fold: Option<Fold>) -> Items<Self> {
        let (form, fold) = form_and_fold::<Self, K>(fold);
        Items {
            schema: match fold {
                Fold::Collect => collected::<Self, K>,
                Fold::Concat => |_| None,
                Fold::Last => Self::schema,
            },
            form,
            fold,
            add: Self::add,
        }
    }
}

/// Returns the encoding of the items and the method that combines them.
pub(crate) fn form_and_fold<I: ToolItem<K>, K>(fold: Option<Fold>) -> (Form, Fold) {
    let (form, usual) = form(I::schema(&mut Direction::Output.generator()));
    (form, fold.unwrap_or(usual))
}

/// Returns the encoding of items with this schema, and the default method to combine them.
fn form(schema: Option<Value>) -> (Form, Fold) {
    let Some(mut schema) = schema else {
        return (Form::Content, Fold::Collect);
    };
    Direction::Output.tidy(&mut schema);
    match Shape::of(&schema) {
        Shape::Text => (Form::Text, Fold::Collect),
        Shape::Nothing => (Form::Json, Fold::Last),
        Shape::Object | Shape::Value | Shape::Any => (Form::Json, Fold::Collect),
    }
}

fn collected<I: ToolItem<K>, K>(generator: &mut SchemaGenerator) -> Option<Value> {
    let item = I::schema(generator)?;
    Some(json!({ "type": "array", "items": item }))
}

/// Schema, collection and encoding of items.
///
/// Stores the operations on `I` as functions, so only the constructor needs trait bounds on `I`.
pub struct Items<I> {
    schema: OutputSchema,
    pub(crate) form: Form,
    pub(crate) fold: Fold,
    pub(super) add: fn(I, &mut Collected) -> Result<(), Stop>,
}

impl<I> Clone for Items<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Items<I> {}

impl<I> fmt::Debug for Items<I> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Items")
            .field("form", &self.form)
            .field("fold", &self.fold)
            .finish_non_exhaustive()
    }
}

impl<I> Items<I> {
    /// Returns the output of the tool.
    pub fn output(self) -> Output<Collected, ToolInfo> {
        Output {
            schema: self.schema,
            write: write_result,
        }
    }
}

#[expect(
    clippy::unnecessary_wraps,
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of every kind of function"
)]
#[inline]
fn write_result(
    collected: Collected,
    info: &ToolInfo,
    (): &(),
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    info.write_output(result, |result| collected.write_result(info, result));
    Ok(())
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> ToolItem<kind::JsonOutput> for T {
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        Some(schema_for::<T>(generator))
    }

    #[allow(private_interfaces, reason = "only this crate calls it")]
    fn add(self, collected: &mut Collected) -> Result<(), Stop> {
        collected.add_value(&self)
    }
}

/// A content block, or a type that converts to one.
pub trait IntoBlock {
    /// Converts the value to a block.
    fn into_block(self) -> ContentBlock;
}

macro_rules! blocks {
    ($($block:ident)*) => {$(
        impl IntoBlock for $block {
            fn into_block(self) -> ContentBlock {
                self.into()
            }
        }
    )*};
}

blocks!(ContentBlock TextContent ImageContent AudioContent ResourceLink EmbeddedResource);

#[diagnostic::do_not_recommend]
impl<T: IntoBlock> ToolItem<kind::ContentOutput> for T {
    fn schema(_: &mut SchemaGenerator) -> Option<Value> {
        None
    }

    #[allow(private_interfaces, reason = "only this crate calls it")]
    fn add(self, collected: &mut Collected) -> Result<(), Stop> {
        collected.add_block(self.into_block())
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, K> ToolItem<kind::FallibleOutput<K>> for Result<T, E>
where
    T: ToolItem<K>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        T::schema(generator)
    }

    #[allow(private_interfaces, reason = "only this crate calls it")]
    fn add(self, collected: &mut Collected) -> Result<(), Stop> {
        match self {
            Ok(item) => item.add(collected),
            Err(error) => Err(Stop::Failed(ToolError::from_boxed(error.into()))),
        }
    }
}
