//! Elicitation: values and fields of a form.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::wire::RpcError;
use crate::{
    ElicitAction, ElicitRequestParams, ElicitResult, ElicitSchema, JsonObject, Number,
    PrimitiveSchemaDefinition,
};

/// The value of one field of a form.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ElicitValue {
    /// A text, or one choice.
    String(String),
    /// A number.
    Number(Number),
    /// A boolean.
    Boolean(bool),
    /// Several choices (since 2025-11-25).
    Strings(Vec<String>),
}

impl<'de> Deserialize<'de> for ElicitValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ElicitValueVisitor)
    }
}

impl ElicitRequestParams {
    /// Returns the message to the user, of a form or of a page.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(form) => &form.message,
            Self::Url(page) => &page.message,
        }
    }
}

impl ElicitResult {
    /// Returns the answer of a user who accepts, with the values of the form: an object such as `json!({"name": "Ada"})`, or an
    /// `#[mcp_type]`. A request to open a page has no values: `()`.
    ///
    /// # Errors
    ///
    /// An internal error if the values are not those of a form, which is flat. It can be returned to the server.
    ///
    /// ```
    /// # use treenail_schema::{ElicitAction, ElicitResult};
    /// let answer = ElicitResult::accept(serde_json::json!({"name": "Ada", "nights": 2}))?;
    /// assert_eq!(answer.action, ElicitAction::Accept);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn accept(content: impl Serialize) -> Result<Self, RpcError> {
        let content = serde_json::to_value(content).and_then(Option::deserialize);
        let content = content.map_err(|error| {
            RpcError::internal(format!("the values are not those of a form: {error}"))
        })?;
        let mut result = Self::new(ElicitAction::Accept);
        result.content = content;
        Ok(result)
    }

    /// Returns the answer of a user who declines.
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// Returns the answer of a user who dismisses the request.
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

/// The fields of a form that is JSON:
///
/// ```
/// use serde_json::json;
/// use treenail_schema::ElicitSchema;
///
/// let form = ElicitSchema::try_from(json!({
///     "type": "object",
///     "properties": {"nights": {"type": "integer", "minimum": 1}},
///     "required": ["nights"],
/// }))?;
/// assert_eq!(form.properties.len(), 1);
/// let nested = json!({"type": "object", "properties": {"a": {"type": "object"}}});
/// assert!(ElicitSchema::try_from(nested).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
impl TryFrom<Value> for ElicitSchema {
    type Error = serde_json::Error;

    #[inline]
    fn try_from(schema: Value) -> Result<Self, Self::Error> {
        Self::deserialize(schema)
    }
}

struct ElicitValueVisitor;

impl<'de> Visitor<'de> for ElicitValueVisitor {
    type Value = ElicitValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number, a boolean or an array of strings")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<ElicitValue, E> {
        Ok(ElicitValue::Boolean(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<ElicitValue, E> {
        Ok(ElicitValue::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<ElicitValue, E> {
        Ok(ElicitValue::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<ElicitValue, E> {
        Ok(ElicitValue::Number(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<ElicitValue, E> {
        Ok(ElicitValue::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ElicitValue, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(ElicitValue::Strings)
    }
}

/// No single key distinguishes the kinds of fields, and a text field, whose members are all optional,
/// would match every choice of strings. The members that only choices have are therefore checked first.
impl<'de> Deserialize<'de> for PrimitiveSchemaDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = JsonObject::deserialize(deserializer)?;
        read_field(object).map_err(de::Error::custom)
    }
}

/// Inlined, so that only crates that read forms compile it: those of clients.
#[inline]
fn read_field(object: JsonObject) -> serde_json::Result<PrimitiveSchemaDefinition> {
    fn read<T>(object: JsonObject) -> serde_json::Result<PrimitiveSchemaDefinition>
    where
        T: de::DeserializeOwned + Into<PrimitiveSchemaDefinition>,
    {
        T::deserialize(Value::Object(object)).map(Into::into)
    }

    let titled_items = object
        .get("items")
        .is_some_and(|items| items.get("anyOf").is_some());
    if object.contains_key("oneOf") {
        return read::<crate::TitledSingleSelectEnumSchema>(object);
    }
    if object.contains_key("enumNames") {
        return read::<crate::LegacyTitledEnumSchema>(object);
    }
    if object.contains_key("enum") {
        return read::<crate::UntitledSingleSelectEnumSchema>(object);
    }
    match object.get("type").and_then(Value::as_str) {
        Some("array") if titled_items => read::<crate::TitledMultiSelectEnumSchema>(object),
        Some("array") => read::<crate::UntitledMultiSelectEnumSchema>(object),
        Some("string") => read::<crate::StringSchema>(object),
        Some("number" | "integer") => read::<crate::NumberSchema>(object),
        Some("boolean") => read::<crate::BooleanSchema>(object),
        Some(other) => Err(de::Error::custom(format_args!(
            "unknown field type `{other}`, expected one of `string`, `number`, `integer`, \
             `boolean`, `array`"
        ))),
        None => Err(de::Error::missing_field("type")),
    }
}

macro_rules! from_value {
    ($($variant:ident($ty:ty)),*) => {$(
        impl From<$ty> for ElicitValue {
            fn from(value: $ty) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from_value!(
    String(String),
    String(&str),
    Number(Number),
    Number(i64),
    Number(f64),
    Boolean(bool),
    Strings(Vec<String>)
);
