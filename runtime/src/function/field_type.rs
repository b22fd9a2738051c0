//! Types of the fields of types with `#[mcp_type]`.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Functions of a field of a type with `#[mcp_type]`, implemented if the type of the field has the traits that it needs.
///
/// The derived code names it in place of the three traits, so that an unsuitable field is one error.
#[diagnostic::on_unimplemented(
    message = "`{Leaf}` cannot be the type of a field of an `#[mcp_type]`",
    label = "a field needs `Serialize`, `Deserialize` and `JsonSchema`",
    note = "put `#[mcp_type]` on your own types; those of `chrono`, `jiff`, `rust_decimal`, `url` and `uuid` need the feature of `treenail` with that name"
)]
pub trait FieldType<Leaf: ?Sized, Field> {
    /// The type of the field.
    type Same;

    /// Serializes the value of the field.
    fn serialize<S: Serializer>(value: &Field, serializer: S) -> Result<S::Ok, S::Error>;

    /// Deserializes the value of the field.
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Field, D::Error>;
}

/// [`FieldType`] of types with `#[mcp_type(input)]`.
#[diagnostic::on_unimplemented(
    message = "`{Leaf}` cannot be the type of a field of an `#[mcp_type(input)]`",
    label = "a field needs `Deserialize` and `JsonSchema`",
    note = "put `#[mcp_type]` or `#[mcp_type(input)]` on your own types; those of `chrono`, `jiff`, `rust_decimal`, `url` and `uuid` need the feature of `treenail` with that name"
)]
pub trait InputFieldType<Leaf: ?Sized, Field> {
    /// The type of the field.
    type Same;

    /// Deserializes the value of the field.
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Field, D::Error>;
}

/// [`FieldType`] of types with `#[mcp_type(output)]`.
#[diagnostic::on_unimplemented(
    message = "`{Leaf}` cannot be the type of a field of an `#[mcp_type(output)]`",
    label = "a field needs `Serialize` and `JsonSchema`",
    note = "put `#[mcp_type]` or `#[mcp_type(output)]` on your own types; those of `chrono`, `jiff`, `rust_decimal`, `url` and `uuid` need the feature of `treenail` with that name"
)]
pub trait OutputFieldType<Leaf: ?Sized, Field> {
    /// The type of the field.
    type Same;

    /// Serializes the value of the field.
    fn serialize<S: Serializer>(value: &Field, serializer: S) -> Result<S::Ok, S::Error>;
}

/// Deserializes a field that is present, also as `null`: an `Option<Option<T>>` is `None` only if it is missing.
pub fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Suitability of a type for a field, see [`FieldType`].
#[derive(Debug)]
pub struct Suitable<const HAS_TRAITS: bool>;

#[diagnostic::do_not_recommend]
impl<Leaf: ?Sized, Field: Serialize + DeserializeOwned> FieldType<Leaf, Field> for Suitable<true> {
    type Same = Field;

    fn serialize<S: Serializer>(value: &Field, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Field, D::Error> {
        Field::deserialize(deserializer)
    }
}

#[diagnostic::do_not_recommend]
impl<Leaf: ?Sized, Field: DeserializeOwned> InputFieldType<Leaf, Field> for Suitable<true> {
    type Same = Field;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Field, D::Error> {
        Field::deserialize(deserializer)
    }
}

#[diagnostic::do_not_recommend]
impl<Leaf: ?Sized, Field: Serialize> OutputFieldType<Leaf, Field> for Suitable<true> {
    type Same = Field;

    fn serialize<S: Serializer>(value: &Field, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }
}

/// Detection of the traits of a type: the constant `HAVE` is true if `T` has all of them, `HAVE_INPUT` and `HAVE_OUTPUT` if it
/// has those of one direction.
#[derive(Debug)]
pub struct FieldTraits<T>(PhantomData<T>);

/// The constants of types without the traits. Those of [`FieldTraits`] take precedence.
pub trait LacksTraits {
    /// False.
    const HAVE: bool = false;
    /// False.
    const HAVE_INPUT: bool = false;
    /// False.
    const HAVE_OUTPUT: bool = false;
}

impl<T> LacksTraits for FieldTraits<T> {}

impl<T: Serialize + DeserializeOwned + JsonSchema> FieldTraits<T> {
    /// True.
    pub const HAVE: bool = true;
}

impl<T: DeserializeOwned + JsonSchema> FieldTraits<T> {
    /// True.
    pub const HAVE_INPUT: bool = true;
}

impl<T: Serialize + JsonSchema> FieldTraits<T> {
    /// True.
    pub const HAVE_OUTPUT: bool = true;
}
