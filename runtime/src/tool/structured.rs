//! Structured content beside content blocks and `_meta` of its own.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use treenail_schema::{ContentBlock, ResultMetaObject};

use crate::function::kind;
use crate::function::type_schema::schema_for;
use crate::tool::output::{ToolOutput, is_plain_text};
use crate::tool::reply::ToolResultWriter;

/// Keyword of the schema of a value that is structured content also if it is a plain string or null. It is in no schema that a peer
/// sees.
const STRUCTURED: &str = "x-treenail-structured";

/// Output of a tool with a typed value and content blocks or `_meta` of its own.
///
/// The value is the structured content, and its type is the declared output schema, as for a tool that returns a `T`. The blocks are
/// the content that a model reads, in place of the JSON copy of the value. Without blocks, the copy is written. For peers of 2026-07-28,
/// a value that is no object has the copy too, as the last block, which the protocol requires.
///
/// ```
/// use treenail::prelude::*;
/// use treenail::tool::Structured;
///
/// #[mcp_type]
/// struct Forecast {
///     celsius: f64,
/// }
///
/// /// Forecast for tomorrow.
/// #[mcp_tool(read_only)]
/// async fn forecast(city: String) -> Result<Structured<Forecast>, ToolError> {
///     let text = format!("Sunny in {city}, 21 °C");
///     Ok(Structured::new(Forecast { celsius: 21.0 }).with_text(text))
/// }
/// # let _ = tools![forecast];
/// ```
///
/// Every `T` with [`serde::Serialize`] and [`schemars::JsonSchema`] is structured content here, also a plain string. A
/// `Structured<String>` therefore has an output schema, unlike a `String`. `None` of an `Option<Structured<T>>` is null. Values that
/// are not objects are wrapped for peers of revisions before 2026-07-28, see [`WrapResults`](crate::WrapResults). If `T` can be any
/// JSON, such as a [`Value`], there is no output schema, and such peers receive values that are not objects as text only. A peer
/// that does not receive the value as structured content receives only the blocks.
///
/// A trait with `#[mcp_client]` can return it: the client reads the value, the content blocks and the `_meta` of the result, without
/// the JSON copy and without the members that describe the connection. With a `T` in its place, the client reads the value alone. From
/// a result without structured content, both read the text.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Structured<T> {
    /// The structured content.
    pub value: T,
    /// The content blocks. If there are none, a text copy of the value is written.
    pub content: Vec<ContentBlock>,
    /// The `_meta` of the result.
    pub meta: Option<ResultMetaObject>,
}

impl<T> Structured<T> {
    /// Creates an output without content blocks of its own. Except for a plain string, it is written like `value` itself.
    pub fn new(value: T) -> Self {
        Self {
            value,
            content: Vec::new(),
            meta: None,
        }
    }

    /// Adds a text for the model.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.with_content([ContentBlock::text(text)])
    }

    /// Adds content blocks: texts, images, audio, resources and links to them.
    ///
    /// ```
    /// use treenail::schema::ContentBlock;
    /// use treenail::tool::Structured;
    ///
    /// let link = ContentBlock::resource_link("map://oslo", "map");
    /// let output = Structured::new([59.9, 10.7]).with_text("Oslo is in the north.").with_content([link]);
    /// assert_eq!(output.content.len(), 2);
    /// ```
    #[must_use]
    pub fn with_content(mut self, content: impl IntoIterator<Item = ContentBlock>) -> Self {
        self.content.extend(content);
        self
    }

    /// Sets the `_meta` of the result.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<ResultMetaObject>) -> Self {
        self.meta = Some(meta.into());
        self
    }
}

/// A [`Structured`], or an `Option` of one.
pub trait IntoStructured {
    /// Type of the structured content.
    type Value: Serialize + JsonSchema;

    /// Converts the output to one that always has a value.
    fn into_structured(self) -> Structured<Self::Value>;
}

impl<T: Serialize + JsonSchema> IntoStructured for Structured<T> {
    type Value = T;

    fn into_structured(self) -> Self {
        self
    }
}

impl<T: Serialize + JsonSchema> IntoStructured for Option<Structured<T>> {
    type Value = Option<T>;

    fn into_structured(self) -> Structured<Option<T>> {
        let Some(output) = self else {
            return Structured::new(None);
        };
        Structured {
            value: Some(output.value),
            content: output.content,
            meta: output.meta,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoStructured> ToolOutput<kind::StructuredOutput> for T {
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        Some(mark(schema_for::<T::Value>(generator)))
    }

    fn write(self, reply: &mut ToolResultWriter<'_, '_>) {
        let output = self.into_structured();
        let is_text = is_plain_text::<T::Value>;
        reply.structured_result(&output.value, output.content, output.meta, is_text);
    }
}

/// Marks a schema as that of structured content.
#[inline]
fn mark(schema: Value) -> Value {
    match schema {
        Value::Object(mut schema) => {
            schema.insert(STRUCTURED.to_owned(), Value::Bool(true));
            schema.into()
        }
        other => other,
    }
}

/// Removes the mark of a schema, and returns whether there was one.
pub(super) fn unmark(schema: &mut Value) -> bool {
    let schema = schema.as_object_mut();
    schema.is_some_and(|schema| schema.remove(STRUCTURED).is_some())
}
