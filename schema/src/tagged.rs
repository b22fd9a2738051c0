//! Deserialization of unions by their tag, a constant that identifies the member.
//!
//! Trying the members one by one would select the wrong one if objects are open, and would report
//! a missing member as "matches no variant". Here the tag selects the member. If it is the first key, as
//! nearly all peers write it, the rest is read in place; otherwise the object is buffered first, and read from its text: a second
//! kind of deserializer would double the code of all members.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::JsonObject;

/// Union whose members differ in the value of one key.
pub(crate) trait Tagged: Sized {
    /// The key.
    const TAG: &'static str;
    /// Noun for its value in error messages.
    const NOUN: &'static str;
    /// The value assumed for an object without the key.
    const DEFAULT: Option<&'static str>;
    /// All values.
    const KNOWN: &'static [&'static str];

    /// Reads the member with the tag `tag` from the rest of the object.
    fn from_tag<'de, D: Deserializer<'de>>(tag: &str, object: D) -> Result<Self, D::Error>;
}

/// Error for an unknown tag.
pub(crate) fn unknown<T: Tagged, E: Error>(tag: &str) -> E {
    let known: Vec<String> = T::KNOWN.iter().map(|known| format!("`{known}`")).collect();
    E::custom(format_args!(
        "unknown {} `{tag}`, expected one of {}",
        T::NOUN,
        known.join(", ")
    ))
}

pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Tagged,
    D: Deserializer<'de>,
{
    deserializer.deserialize_map(TaggedVisitor(PhantomData))
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the {} in `{}`", T::NOUN, T::TAG)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        // If the tag may be absent, it is an optional field of the member, which must receive it too.
        let in_place = T::DEFAULT.is_none();
        let mut object = JsonObject::new();
        while let Some(Text(key)) = map.next_key()? {
            if in_place && object.is_empty() && key == T::TAG {
                let Text(tag) = map.next_value()?;
                return T::from_tag(&tag, MapAccessDeserializer::new(map));
            }
            object.insert(key.into_owned(), map.next_value()?);
        }
        let tag = match object.get(T::TAG) {
            Some(tag) => String::deserialize(tag).map_err(A::Error::custom)?,
            None => T::DEFAULT
                .ok_or_else(|| A::Error::missing_field(T::TAG))?
                .to_owned(),
        };
        let object = Value::Object(object).to_string();
        let mut reader = serde_json::Deserializer::from_str(&object);
        T::from_tag(&tag, &mut reader).map_err(|error| A::Error::custom(without_position(&error)))
    }
}

/// Returns the message of an error without its position, which is one in the buffered object.
fn without_position(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if message.ends_with(&position) {
        message.truncate(message.len() - position.len());
    }
    message
}

/// A string, borrowed from the input if possible.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }

        // A newtype would hide the string from readers that report the path of an error.
        deserializer.deserialize_str(TextVisitor)
    }
}
