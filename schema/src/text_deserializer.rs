//! Values that are transmitted as strings.

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
        let is_json =
            text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok();
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
    let value = read(&mut json).map_err(Error::custom)?;
    json.end().map_err(Error::custom)?;
    Ok(value)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;
    use std::net::IpAddr;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Unit {
        Metric,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    enum Other {
        B(u8),
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Id(u64);

    #[track_caller]
    fn check<T: DeserializeOwned + Debug + PartialEq>(text: &str, expected: Result<T, &str>) {
        let found = TextDeserializer::read(text).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn types_are_read_from_texts() {
        check("a \"b\"", Ok("a \"b\"".to_owned()));
        check("", Ok(Some(String::new())));
        check("-7", Ok(-7_i8));
        check(
            "300",
            Err::<u8, _>("invalid value: integer `300`, expected u8"),
        );
        check("x", Err::<u8, _>("invalid type: string \"x\", expected u8"));
        check("0.5", Ok(0.5_f32));
        check("1e300", Ok(1e300_f64));
        for text in ["NaN", "nan", "-NaN", "inf", "-inf", "+infinity", "1e999"] {
            let reason = format!("invalid type: string \"{text}\", expected f64");
            check::<f64>(text, Err(&reason));
            check::<f32>(text, Err(&reason.replace("f64", "f32")));
            check::<Option<f64>>(text, Err(&reason));
        }
        let large = Err("invalid type: string \"1e300\", expected f32");
        check::<f32>("1e300", large);
        check("true", Ok(true));
        check("é", Ok('é'));
        check("12", Ok(Id(12)));
        check("metric", Ok(Unit::Metric));
        check(
            "feet",
            Err::<Unit, _>("unknown variant `feet`, expected `metric`"),
        );
        check("[1,2]", Ok(vec![1_u8, 2]));
        check("{\"a\":1}", Ok(BTreeMap::from([("a".to_owned(), 1_u8)])));
        check(
            "[1] 2",
            Err::<Vec<u8>, _>("trailing characters at line 1 column 5"),
        );
    }

    #[test]
    fn types_that_need_an_object_are_read_from_json() {
        #[derive(Debug, Deserialize, PartialEq)]
        #[serde(tag = "k")]
        enum Tagged {
            A { x: u8 },
        }
        check(r#"{"k":"A","x":1}"#, Ok(Tagged::A { x: 1 }));
        check(r#"{"k":"A","x":1}"#, Ok(Some(Tagged::A { x: 1 })));
        check(r#"{"B":2}"#, Ok(Other::B(2)));
        check(
            r#"{"k":"A","x":"s"}"#,
            Err::<Tagged, _>("invalid type: string \"s\", expected u8"),
        );
        check(
            "A",
            Err::<Tagged, _>("invalid type: string \"A\", expected internally tagged enum Tagged"),
        );
        let text = r#"{"k":1}"#;
        check(text, Ok(serde_json::Value::from(text)));
    }

    #[test]
    fn strings_are_never_read_as_json() {
        for text in ["[draft] x", "[1]", "{}", "\"quoted\"", "[\u{e9}"] {
            let read = String::deserialize(TextDeserializer::json(text));
            assert_eq!(read.unwrap(), text);
        }
        let reason = "invalid IP address syntax";
        for text in ["[::1]", "[1]", "{}"] {
            check::<IpAddr>(text, Err(reason));
        }
    }

    #[test]
    fn text_that_is_not_json_is_a_wrong_variant() {
        for text in ["{unit}", "{", "[1]", "[metric", "{} {}"] {
            let reason = format!("unknown variant `{text}`, expected `metric`");
            check::<Unit>(text, Err(&reason));
        }
        check(
            r#"{"feet":1}"#,
            Err::<Unit, _>("unknown variant `feet`, expected `metric` at line 1 column 7"),
        );
    }
}
