//! Members of a checked object, found in one pass and read by their places.

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

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    use serde::Deserialize;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;
    use crate::wire::Members;

    const VALUES: [&str; 20] = [
        "0",
        "-0",
        "7",
        "-7",
        "300",
        "1.5",
        "1e2",
        "123456789012345678",
        "1234567890123456789",
        "18446744073709551616",
        "null",
        "true",
        "\"\"",
        "\"é\"",
        "\"a\\n\"",
        "\"Two\"",
        "[1,2]",
        "[]",
        "{\"a\":1}",
        "{\"One\":1}",
    ];

    #[derive(Debug, PartialEq, Deserialize)]
    enum Choice {
        One(u8),
        Two,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Of<T> {
        a: T,
        #[serde(default)]
        b: Option<u8>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict<T> {
        a: T,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Flat<T> {
        #[serde(flatten)]
        rest: BTreeMap<String, T>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct New(i64);

    fn places(object: &str) -> Places {
        let (mut places, mut members) = (Places::new(object), Members::new(object).unwrap());
        while let Some((key, value)) = members.next().unwrap() {
            places.add(object, &key, value);
        }
        places
    }

    #[test]
    fn a_compact_member_is_found_only_without_white_space() {
        let (object, key) = ("{\"a\":[1],\"b\":2}", "\"b\":");
        let (mut places, mut members) = (Places::new(object), Members::new(object).unwrap());
        assert!(!members.skip_key(key));
        assert!(members.skip_key("\"a\":"));
        places.add_compact(object, 4, members.value().unwrap());
        assert!(members.skip_key(key));
        places.add_compact(object, key.len(), members.integer().unwrap());
        assert!(!members.skip_key(key));
        assert!(members.next().unwrap().is_none());
        let read: Option<Value> = places.read(object);
        assert_eq!(read, serde_json::from_str(object).ok());
        for object in ["{ \"b\":2}", "{\"b\" :2}", "{\"b\": 2}", "{\"b\"", "{"] {
            assert!(!Members::new(object).unwrap().skip_key(key), "{object}");
        }
        for value in ["2 ", "2.5", "2e1", "\"2\"", "[2]", ""] {
            let object = format!("{{\"b\":{value}}}");
            let mut members = Members::new(&object).unwrap();
            assert!(members.skip_key(key), "{object}");
            assert_eq!(members.integer(), None, "{object}");
        }
    }

    /// Checks that whatever is read by places is as `serde_json` reads it, and returns the number of such reads.
    fn agrees<T: DeserializeOwned + PartialEq + Debug>() -> usize {
        let mut read = 0;
        for value in VALUES {
            for object in [
                format!("{{\"a\":{value}}}"),
                format!("{{\"b\":1, \"a\" : {value} }}"),
                format!("{{\"a\":{value},\"c\":{value}}}"),
                format!("{{\"a\":{value},\"a\":{value}}}"),
            ] {
                let expected = serde_json::from_str::<T>(&object).ok();
                let found = places(&object).read::<T>(&object);
                assert!(found.is_none() || found == expected, "{object}: {found:?}");
                read += usize::from(found.is_some());
            }
        }
        read
    }

    fn agrees_in_all_forms<T: DeserializeOwned + PartialEq + Debug>() {
        assert!(agrees::<Of<T>>() > 0);
        assert!(agrees::<Of<Option<T>>>() > 0);
        agrees::<Strict<T>>();
        agrees::<Flat<T>>();
        agrees::<BTreeMap<String, T>>();
        agrees::<Option<Of<T>>>();
    }

    #[test]
    fn an_object_is_read_as_serde_reads_it() {
        agrees_in_all_forms::<u8>();
        agrees_in_all_forms::<i8>();
        agrees_in_all_forms::<u64>();
        agrees_in_all_forms::<i64>();
        agrees_in_all_forms::<u128>();
        agrees_in_all_forms::<f64>();
        agrees_in_all_forms::<bool>();
        agrees_in_all_forms::<char>();
        agrees_in_all_forms::<String>();
        agrees_in_all_forms::<Choice>();
        agrees_in_all_forms::<New>();
        agrees_in_all_forms::<Vec<u8>>();
        agrees_in_all_forms::<(u8, u8)>();
        agrees_in_all_forms::<Value>();
        agrees::<Value>();
        agrees::<Choice>();
    }

    #[test]
    fn raw_values_have_their_text() {
        #[derive(Deserialize)]
        struct Raw {
            a: Box<RawValue>,
        }
        let object = "{\"a\":1.50}";
        let read = places(object).read::<Raw>(object).unwrap();
        assert_eq!(read.a.get(), "1.50");
        assert!(places(object).read::<Box<RawValue>>(object).is_none());
    }

    #[test]
    fn many_members_and_escaped_keys_are_left_to_serde() {
        for object in [
            "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7}",
            "{\"\\u0061\":1}",
        ] {
            assert!(places(object).read::<Value>(object).is_none(), "{object}");
        }
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(70_000));
        assert!(places(&long).read::<Value>(&long).is_none());
        let empty: Option<Value> = places("{}").read("{}");
        assert_eq!(empty, Some(Value::Object(serde_json::Map::new())));
        assert!(Places::unknown().read::<Value>("{}").is_none());
    }
}
