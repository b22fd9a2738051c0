//! Members of a checked object, found in one pass and read by their places.

#[cfg(test)]
mod tests;

use std::slice::Iter;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Error;

use crate::wire::is_plain_string;

/// Maximum number of members: more are read by `serde_json`.
const MOST: usize = 6;

/// Maximum number of digits that surely fit in 64 bits.
const MAX_DIGITS: usize = 18;

/// Places of the members of an object, in its JSON text.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    members: [Member; MOST],
    /// Number of members, or [`UNKNOWN`].
    count: u8,
}

/// Count of an object that is read by `serde_json`.
const UNKNOWN: u8 = u8::MAX;

/// Start and end of a key, without quotes, and of its value.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    key: [u16; 2],
    value: [u16; 2],
}

impl Places {
    /// Creates the places of `object`, whose members are to be added.
    #[inline]
    pub fn new(object: &str) -> Self {
        let is_short = u16::try_from(object.len()).is_ok();
        Self {
            members: [Member::default(); MOST],
            count: if is_short { 0 } else { UNKNOWN },
        }
    }

    /// Creates the places of an object that is read by `serde_json`.
    #[inline]
    pub fn unknown() -> Self {
        Self {
            members: [Member::default(); MOST],
            count: UNKNOWN,
        }
    }

    /// Adds a member, whose value is a slice of `object`. So is its key, unless it is escaped there.
    #[inline]
    pub fn add(&mut self, object: &str, key: &str, value: &str) {
        let member = self.members.get_mut(usize::from(self.count));
        match (member, place(object, key), place(object, value)) {
            (Some(member), Some(key), Some(value)) => {
                *member = Member { key, value };
                self.count += 1;
            }
            _ => self.count = UNKNOWN,
        }
    }

    /// Adds a member, whose value is a slice of `object`. Before it are its key in quotes and a colon, of `key_bytes` in all.
    #[inline]
    pub fn add_compact(&mut self, object: &str, key_bytes: usize, value: &str) {
        let member = self.members.get_mut(usize::from(self.count));
        let start = place(object, value).zip(u16::try_from(key_bytes).ok());
        match (member, start) {
            (Some(member), Some((value, key_bytes))) => {
                let key = [value[0] - key_bytes + 1, value[0] - 2];
                *member = Member { key, value };
                self.count += 1;
            }
            _ => self.count = UNKNOWN,
        }
    }

    /// Reads the object with the result of `serde_json`. Returns `None` if that has to read it, also for its error.
    pub fn read<T: DeserializeOwned>(&self, object: &str) -> Option<T> {
        let members = self.members.get(..usize::from(self.count))?.iter();
        let value = "";
        T::deserialize(Pairs {
            object,
            members,
            value,
        })
        .ok()
    }
}

/// Deserializer of the whole object.
struct Pairs<'de, 'a> {
    object: &'de str,
    members: Iter<'a, Member>,
    /// The value of the key that was read last.
    value: &'de str,
}

impl<'de> Deserializer<'de> for Pairs<'de, '_> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        let value = visitor.visit_map(&mut self)?;
        match self.members.next() {
            None => Ok(value),
            Some(_) => Err(Error::custom("not all members have been read")),
        }
    }

    /// Reads the text with `serde_json`: its `RawValue` is a newtype struct for which each deserializer but its own is a map.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        json(self.object, |json| {
            json.deserialize_newtype_struct(name, visitor)
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Pairs<'de, '_> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(member) = self.members.next() else {
            return Ok(None);
        };
        self.value = slice(self.object, member.value);
        let key = slice(self.object, member.key);
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(Checked(self.value))
    }
}

/// Returns the slice at a place.
#[inline]
fn slice(text: &str, [start, end]: [u16; 2]) -> &str {
    let slice = text.get(usize::from(start)..usize::from(end));
    slice.unwrap_or_default()
}

/// Returns the place of a slice in `text`, which is short, or `None` if it is a text of its own.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the text is short")]
fn place(text: &str, slice: &str) -> Option<[u16; 2]> {
    let start = slice.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    let end = start.wrapping_add(slice.len());
    (start <= end && end <= text.len()).then_some([start as u16, end as u16])
}

/// Deserializer of a checked JSON value, with the results of `serde_json`.
struct Checked<'a>(&'a str);

/// Integers of a few digits are parsed at once.
macro_rules! integers {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.as_bytes() {
                [b'0'..=b'9', ..] if self.0.len() <= MAX_DIGITS => match self.0.parse() {
                    Ok(value) => visitor.visit_u64(value),
                    Err(_) => json(self.0, |json| json.$method(visitor)),
                },
                _ => json(self.0, |json| json.$method(visitor)),
            }
        }
    )*};
}

macro_rules! strings {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            if is_plain_string(self.0) {
                return visitor.visit_borrowed_str(&self.0[1..self.0.len() - 1]);
            }
            json(self.0, |json| json.$method(visitor))
        }
    )*};
}

macro_rules! others {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(
            self,
            $($argument: $type,)*
            visitor: V,
        ) -> Result<V::Value, Error> {
            json(self.0, |json| json.$method($($argument,)* visitor))
        }
    )*};
}

/// Reads the whole text with `serde_json`.
fn json<'de, T>(
    text: &'de str,
    read: impl FnOnce(&mut serde_json::Deserializer<serde_json::de::StrRead<'de>>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = read(&mut json)?;
    json.end()?;
    Ok(value)
}

impl<'de> Deserializer<'de> for Checked<'de> {
    type Error = Error;

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            "null" => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    strings! {
        deserialize_str deserialize_string
    }

    others! {
        deserialize_any()
        deserialize_bool()
        deserialize_i128()
        deserialize_u128()
        deserialize_f32()
        deserialize_f64()
        deserialize_char()
        deserialize_bytes()
        deserialize_byte_buf()
        deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
        deserialize_identifier()
        deserialize_ignored_any()
    }
}
