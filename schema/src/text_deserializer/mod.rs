//! Values that are transmitted as strings.

#[cfg(test)]
mod tests;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::de::StrRead;

/// Deserializer of a value from a string.
#[derive(Debug)]
pub struct TextDeserializer<'a> {
    text: &'a str,
    /// Set if the string is JSON also for an enum, and for a type that does not declare which kind of value it needs.
    is_json: bool,
}

impl<'a> TextDeserializer<'a> {
    /// Creates a deserializer for which an enum, and a value of any type, is the string itself.
    #[inline]
    pub fn new(text: &'a str) -> Self {
        let is_json = false;
        Self { text, is_json }
    }

    /// Creates a deserializer for which they are the JSON object or array in the string, if it is one: enums with data are
    /// objects, and those with an internal tag are deserialized as values of any type. A string type is the string itself.
    #[inline]
    pub fn json(text: &'a str) -> Self {
        let is_json = is_container(text);
        Self { text, is_json }
    }

    /// Returns `true` if an enum, and a value of any type, is read from JSON.
    pub fn is_json(&self) -> bool {
        self.is_json
    }

    /// Reads a value from the string itself or, if that fails, from the JSON in it.
    #[inline]
    pub fn read<T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
        T::deserialize(Self::new(text)).or_else(|_| T::deserialize(Self::json(text)))
    }
}

impl<'de> IntoDeserializer<'de> for TextDeserializer<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident: $type:ident => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.text.parse::<$type>() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_str(self.text),
            }
        }
    )*};
}

/// As [`parsed`], but rejects numbers that JSON does not have: NaN, infinities, and values that overflow.
macro_rules! finite {
    ($($method:ident: $type:ident => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.text.parse::<$type>() {
                Ok(value) if value.is_finite() => visitor.$visit(value),
                _ => visitor.visit_str(self.text),
            }
        }
    )*};
}

/// Passes the string itself to the visitor, also if it is JSON.
macro_rules! as_text {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_borrowed_str(self.text)
        }
    )*};
}

macro_rules! from_json {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(
            self,
            $($argument: $type,)*
            visitor: V,
        ) -> Result<V::Value, Error> {
            read_json(self.text, |json| json.$method($($argument,)* visitor))
        }
    )*};
}

/// Reads the whole text as JSON.
fn read_json<'de, T>(
    text: &'de str,
    read: impl FnOnce(&mut serde_json::Deserializer<StrRead<'de>>) -> serde_json::Result<T>,
) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = read(&mut json).and_then(|value| json.end().map(|()| value));
    value.map_err(|error| {
        let text = text.trim_start();
        if is_container(text) {
            Error::custom(error)
        } else if text.starts_with(['{', '[']) {
            Error::custom(format_args!("{NO_CONTAINER}: {error}"))
        } else {
            Error::custom(NO_CONTAINER)
        }
    })
}

/// Reason for a text that is no JSON array or object: its author may not know that it is read as JSON. The place of a syntax error
/// follows if the text starts like one.
const NO_CONTAINER: &str = r#"the text must be JSON, such as `["a", "b"]` or `{"a": 1}`"#;

/// Returns `true` for the text of a JSON array or object.
fn is_container(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

impl<'de> Deserializer<'de> for TextDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_json {
            return read_json(self.text, |json| json.deserialize_any(visitor));
        }
        visitor.visit_borrowed_str(self.text)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if self.is_json && self.text.starts_with('{') {
            return read_json(self.text, |json| {
                json.deserialize_enum(name, variants, visitor)
            });
        }
        let text: StrDeserializer<'_, Error> = self.text.into_deserializer();
        visitor.visit_enum(text)
    }

    parsed! {
        deserialize_bool: bool => visit_bool,
        deserialize_i8: i64 => visit_i64,
        deserialize_i16: i64 => visit_i64,
        deserialize_i32: i64 => visit_i64,
        deserialize_i64: i64 => visit_i64,
        deserialize_i128: i128 => visit_i128,
        deserialize_u8: u64 => visit_u64,
        deserialize_u16: u64 => visit_u64,
        deserialize_u32: u64 => visit_u64,
        deserialize_u64: u64 => visit_u64,
        deserialize_u128: u128 => visit_u128,
    }

    finite! {
        deserialize_f32: f32 => visit_f32,
        deserialize_f64: f64 => visit_f64,
    }

    from_json! {
        deserialize_seq()
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
    }

    as_text! {
        deserialize_char
        deserialize_str
        deserialize_string
        deserialize_bytes
        deserialize_byte_buf
    }

    forward_to_deserialize_any! {
        unit unit_struct identifier ignored_any
    }
}
