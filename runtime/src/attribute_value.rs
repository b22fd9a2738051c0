//! Types of attribute values, for macro keys that accept more than one type.
//!
//! Each key has a trait of its own, so that the compiler's message about a wrong value names the key.

use std::fmt;
use std::ops::RangeBounds;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value};
use treenail_schema::{Annotations, Icon, MetaObject};

use crate::wire::{Members, WriteJson};

/// A value for `icons = …`: anything that yields [`Icon`]s, such as an array of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of `icons`",
    label = "expected a list of `Icon`s",
    note = "write `icons = [Icon::new(\"https://…\")]`"
)]
pub trait IntoIcons {
    /// Converts the value.
    fn into_icons(self) -> Vec<Icon>;
}

#[diagnostic::do_not_recommend]
impl<I: IntoIterator<Item: Into<Icon>>> IntoIcons for I {
    fn into_icons(self) -> Vec<Icon> {
        self.into_iter().map(Into::into).collect()
    }
}

/// A value for `meta = …`: an object of `json!`, a [`MetaObject`], or another type that converts to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of `meta`",
    label = "expected an object",
    note = "write `meta = json!({{…}})`, with `serde_json::json`"
)]
pub trait IntoMeta {
    /// Converts the value, or returns the reason why that is not possible, such as for a [`Value`] that is not an object.
    fn into_meta(self) -> Result<MetaObject, String>;
}

#[diagnostic::do_not_recommend]
impl<M: TryInto<MetaObject, Error: fmt::Display>> IntoMeta for M {
    fn into_meta(self) -> Result<MetaObject, String> {
        self.try_into().map_err(|error| invalid_meta(&error))
    }
}

fn invalid_meta(error: &dyn fmt::Display) -> String {
    format!("its `meta` is not an object: {error}")
}

/// A value for `schema = …`: keywords of JSON Schema, as an object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of `schema`",
    label = "expected an object of JSON Schema keywords",
    note = "write `schema = json!({{…}})`, with `serde_json::json`"
)]
pub trait IntoSchema {
    /// Converts the value.
    fn into_schema(self) -> Value;
}

#[diagnostic::do_not_recommend]
impl<V: Into<Value>> IntoSchema for V {
    fn into_schema(self) -> Value {
        self.into()
    }
}

/// A value for `annotations = …`: [`Annotations`], or a type that converts to them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of `annotations`",
    label = "expected `Annotations`"
)]
pub trait IntoAnnotations {
    /// Converts the value.
    fn into_annotations(self) -> Annotations;
}

#[diagnostic::do_not_recommend]
impl<A: Into<Annotations>> IntoAnnotations for A {
    fn into_annotations(self) -> Annotations {
        self.into()
    }
}

/// A value for `range = …` on a number of type `N`: a range of such numbers.
#[diagnostic::on_unimplemented(
    message = "the bounds of a `{N}` have another type",
    label = "expected a range of `{N}`"
)]
pub trait IntoRange<N>: RangeBounds<N> + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<N, R: RangeBounds<N> + Send + Sync + 'static> IntoRange<N> for R {}

/// A type that can have a default: the default of an argument is part of the schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have a default",
    label = "a default is part of the schema, so it needs `Serialize`",
    note = "put `#[mcp_type]` on your own types"
)]
pub trait IntoDefault: Sized {
    /// Creates the default; `make` returns its value.
    fn default_value(make: fn() -> Self) -> DefaultValue<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> IntoDefault for T {
    fn default_value(make: fn() -> Self) -> DefaultValue<Self> {
        DefaultValue {
            make,
            json: |value| {
                let mut json = serde_json::to_value(value)?;
                let mut text = Vec::new();
                // Fails for a number such as NaN, which is null in a `Value`.
                if value.write_json(&mut text).is_ok() {
                    use_digits(&mut json, std::str::from_utf8(&text).unwrap_or_default());
                }
                Ok(json)
            },
        }
    }
}

/// Replaces each fraction by that of its JSON text, which has the digits of an `f32`: 0.1 in place of 0.10000000149011612.
#[inline]
fn use_digits(json: &mut Value, text: &str) {
    match json {
        Value::Number(number) if number.is_f64() => {
            let exact = text.parse().ok().and_then(Number::from_f64);
            *number = exact.unwrap_or_else(|| number.clone());
        }
        Value::Array(items) => {
            let texts = serde_json::from_str::<Vec<&RawValue>>(text);
            for (item, text) in items.iter_mut().zip(texts.unwrap_or_default()) {
                use_digits(item, text.get());
            }
        }
        Value::Object(members) => {
            let Ok(mut texts) = Members::new(text) else {
                return;
            };
            while let Ok(Some((name, text))) = texts.next() {
                if let Some(member) = members.get_mut(&*name) {
                    use_digits(member, text);
                }
            }
        }
        _ => {}
    }
}

/// Value of an omitted argument.
pub struct DefaultValue<T> {
    pub(crate) make: fn() -> T,
    pub(crate) json: fn(&T) -> serde_json::Result<Value>,
}

impl<T> fmt::Debug for DefaultValue<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DefaultValue")
            .finish_non_exhaustive()
    }
}
