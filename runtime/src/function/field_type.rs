//! Types of the fields of types with `#[mcp_type]`.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize, Serializer};

/// Functions of a field of a type with `#[mcp_type]`, implemented if the type of the field has the traits that it needs.
///
/// The derived code names it in place of the three traits, so that an unsuitable field is one error.
#[diagnostic::on_unimplemented(
    message = "`{Leaf}` cannot be the type of a field of an `#[mcp_type]`",
    label = "a field needs `Serialize`, `Deserialize` and `JsonSchema`",
    note = "put `#[mcp_type]` on your own types; those of `chrono`, `jiff`, `rust_decimal`, `url` and `uuid` need the feature of `treenail` with that name"
)]
pub trait FieldType<Leaf, Field> {
    /// The type of the field.
    type Same;

    /// Serializes the value of the field.
    fn serialize<S: Serializer>(value: &Field, serializer: S) -> Result<S::Ok, S::Error>;

    /// Deserializes the value of the field.
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Field, D::Error>;
}

/// Suitability of a type for a field, see [`FieldType`].
#[derive(Debug)]
pub struct Suitable<const HAS_TRAITS: bool>;

#[diagnostic::do_not_recommend]
impl<Leaf, Field: Serialize + DeserializeOwned> FieldType<Leaf, Field> for Suitable<true> {
    type Same = Field;

    fn serialize<S: Serializer>(value: &Field, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Field, D::Error> {
        Field::deserialize(deserializer)
    }
}

/// Detection of the traits of a type: the constant `HAVE` is true if `T` has all of them.
pub struct FieldTraits<T>(PhantomData<T>);

impl<T> fmt::Debug for FieldTraits<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FieldTraits")
    }
}

/// The constant of types without the traits. That of [`FieldTraits`] takes precedence.
pub trait LacksTraits {
    /// False.
    const HAVE: bool = false;
}

impl<T> LacksTraits for FieldTraits<T> {}

impl<T: Serialize + DeserializeOwned + JsonSchema> FieldTraits<T> {
    /// True.
    pub const HAVE: bool = true;
}
