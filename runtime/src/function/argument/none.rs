//! The value `None`, of types that have it.

use serde::de::DeserializeOwned;

/// Returns the value that a type has when its field is missing, such as `None`.
pub(crate) fn value_if_missing<T: DeserializeOwned>() -> Option<T> {
    none_within(0)
}

/// Returns the value `None` within `depth` of `Some`, for a type that has it.
pub(super) fn none_within<T: DeserializeOwned>(depth: usize) -> Option<T> {
    T::deserialize(NoneWithin(depth)).ok()
}

/// A deserializer of `None` within a number of `Some`. Only types that accept a missing value, such as `Option`, can be read
/// from it.
struct NoneWithin(usize);

impl<'de> serde::Deserializer<'de> for NoneWithin {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: serde::de::Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::custom("missing"))
    }

    fn deserialize_option<V: serde::de::Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self.0.checked_sub(1) {
            Some(depth) => visitor.visit_some(Self(depth)),
            None => visitor.visit_none(),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
