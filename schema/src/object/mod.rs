//! JSON of structs and of enumerations of strings.
//!
//! serde's derives compile more than twice as much code for each type. They also read a struct from an array and an enumeration from an
//! object, which is not JSON of the protocol, and write each member a second time for structs that stand for raw JSON.

mod lenient;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::tagged::Text;

/// Implements `Deserialize` and `Serialize` for a struct. Each field has one of these kinds, and the name of its member:
///
/// - `required`: the member must be present.
/// - `optional`: the member may be absent or `null`, and is not written if it is.
/// - `nullable`: the same, and it is written as `null`.
/// - `explicit`: the member may be absent; `null` is a value.
///
/// With `as lenient`, the value is read by [`ReadLeniently`].
///
/// A tag is a member with a constant value, which is written first and not read. A field after `;` has all members without a field of
/// their own.
#[doc(hidden)]
#[macro_export]
macro_rules! __object {
    ($name:ident $(($tag:literal = $value:literal))? { $($kind:ident $field:ident = $member:literal $(as $how:ident)?),* $(; $extra:ident)? }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ObjectVisitor;

                impl<'de> serde::de::Visitor<'de> for ObjectVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        $(let mut $field = None;)*
                        $(let mut $extra = $crate::JsonObject::new();)?
                        while let Some(key) = $crate::internal::object::next_key(&mut map)? {
                            let read = match &*key {
                                $($member => $crate::__object!(@next $($how)? map $field $member),)*
                                _key => $crate::__object!(@other map _key $($extra)?),
                            };
                            read?;
                        }
                        Ok($name {
                            $($field: $crate::__object!(@read $kind $field $member),)*
                            $($extra: $extra.into(),)?
                        })
                    }
                }

                deserializer.deserialize_map(ObjectVisitor)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[allow(unused_mut, reason = "a struct may have no members")]
                let mut map = serializer.serialize_map(None)?;
                $(serde::ser::SerializeMap::serialize_entry(&mut map, $tag, $value)?;)?
                $($crate::__object!(@write $kind map $member self.$field);)*
                $($crate::internal::object::write_all(&mut map, &self.$extra)?;)?
                serde::ser::SerializeMap::end(map)
            }
        }
    };
    (@other $map:ident $key:ident) => { $crate::internal::object::skip(&mut $map) };
    (@other $map:ident $key:ident $extra:ident) => {
        $crate::internal::object::insert(&mut $map, &mut $extra, $key)
    };
    (@next lenient $map:ident $field:ident $member:literal) => {
        $crate::internal::object::read_lenient(&mut $map, &mut $field, $member)
    };
    (@next $map:ident $field:ident $member:literal) => {
        $crate::internal::object::read(&mut $map, &mut $field, $member)
    };
    (@read required $field:ident $member:literal) => {
        $field.ok_or_else(|| serde::de::Error::missing_field($member))?
    };
    (@read optional $field:ident $member:literal) => { $field.flatten() };
    (@read nullable $field:ident $member:literal) => { $field.flatten() };
    (@read explicit $field:ident $member:literal) => { $field };
    (@write required $map:ident $member:literal $value:expr) => {
        serde::ser::SerializeMap::serialize_entry(&mut $map, $member, &$value)?;
    };
    (@write optional $map:ident $member:literal $value:expr) => {
        $crate::internal::object::write(&mut $map, $member, $value.as_ref())?;
    };
    (@write nullable $map:ident $member:literal $value:expr) => {
        serde::ser::SerializeMap::serialize_entry(&mut $map, $member, &$value)?;
    };
    (@write explicit $map:ident $member:literal $value:expr) => {
        $crate::internal::object::write(&mut $map, $member, $value.as_ref())?;
    };
}

/// Implements `Deserialize` and `Serialize` for an enumeration, given the string of each variant.
macro_rules! choice {
    ($name:ident { $($value:literal => $variant:ident),* }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                const VARIANTS: &[$name] = &[$($name::$variant),*];
                let visitor = crate::object::ChoiceVisitor(&[$($value),*]);
                deserializer.deserialize_str(visitor).map(|position| VARIANTS[position])
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(crate) use choice;

pub use self::lenient::{ReadLeniently, read_lenient};
pub use crate::__object as object;

/// Returns the key of the next member.
pub fn next_key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_key()?.map(|Text(key)| key))
}

/// Reads a member that must not occur twice.
pub fn read<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    map: &mut A,
    value: &mut Option<T>,
    member: &'static str,
) -> Result<(), A::Error> {
    if value.is_some() {
        return Err(A::Error::duplicate_field(member));
    }
    *value = Some(map.next_value()?);
    Ok(())
}

/// Skips an unknown member.
pub fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value().map(|IgnoredAny| ())
}

/// Adds a member to those that the protocol does not define.
pub fn insert<'de, A: MapAccess<'de>>(
    map: &mut A,
    extra: &mut JsonObject,
    key: &str,
) -> Result<(), A::Error> {
    extra.insert(key.to_owned(), map.next_value()?);
    Ok(())
}

/// Writes a member unless it is absent.
pub fn write<M: SerializeMap, T: Serialize>(
    map: &mut M,
    member: &'static str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(member, value),
        None => Ok(()),
    }
}

/// Writes the members that the protocol does not define.
pub fn write_all<M: SerializeMap>(map: &mut M, extra: &JsonObject) -> Result<(), M::Error> {
    let mut members = extra.iter();
    members.try_for_each(|(member, value)| map.serialize_entry(member, value))
}

/// Visitor of a string that is one of some values. Returns its position.
pub(crate) struct ChoiceVisitor(pub(crate) &'static [&'static str]);

impl Visitor<'_> for ChoiceVisitor {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<usize, E> {
        let mut values = self.0.iter();
        let position = values.position(|known| *known == value);
        position.ok_or_else(|| E::unknown_variant(value, self.0))
    }
}
