//! Stream items of a trait that has both a server and a client.

use std::error::Error;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use crate::function::kind::{self, Kind};
use crate::stream::{Fold, Form, Items, ToolItem, form_and_fold};
use crate::typed_contract::content::FromBlock;
use crate::typed_contract::structured::read_item;

/// A stream item of a trait that has both a server and a client.
///
/// It is a [`ToolItem`](crate::ToolItem) whose values can also be deserialized: [`serde::Deserialize`] is required too,
/// which `#[mcp_type]` derives with the others. The parameters, the encoding and the item type of the client, are
/// always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be streamed by a tool that has a client",
    label = "an item needs `Serialize`, `Deserialize` and `JsonSchema`, its error needs `Error`",
    note = "put `#[mcp_type]` on your own types, or stream content blocks",
    note = "an error derives `thiserror::Error` or is a `ToolError`; `Box<dyn Error>` needs `+ Send + Sync`"
)]
pub trait ContractItem<K, T>: Sized {
    /// Returns the serialization of the items, for the server.
    fn items(kind: Kind<K>, fold: Option<Fold>) -> Items<Self>;

    /// Returns the deserialization of the items, for the client.
    fn reader(kind: Kind<K>, fold: Option<Fold>) -> ItemReader<T>;
}

#[diagnostic::do_not_recommend]
impl<T, E, K> ContractItem<kind::FallibleOutput<K>, T> for Result<T, E>
where
    T: ToolItem<K> + FromItem<K>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn items(kind: Kind<kind::FallibleOutput<K>>, fold: Option<Fold>) -> Items<Self> {
        <Self as ToolItem<_>>::items(kind, fold)
    }

    fn reader(_: Kind<kind::FallibleOutput<K>>, fold: Option<Fold>) -> ItemReader<T> {
        let (form, fold) = form_and_fold::<T, K>(fold);
        ItemReader {
            form,
            fold,
            read: T::from_item,
        }
    }
}

/// Implements the trait for types other than `Result`, so that only [`Fallible`](super::Fallible) reports them as an
/// error.
macro_rules! impl_for_other_types {
    ($($kind:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: ToolItem<kind::$kind>> ContractItem<kind::$kind, ()> for T {
            fn items(kind: Kind<kind::$kind>, fold: Option<Fold>) -> Items<Self> {
                <Self as ToolItem<_>>::items(kind, fold)
            }

            fn reader(_: Kind<kind::$kind>, fold: Option<Fold>) -> ItemReader<()> {
                let (form, fold) = form_and_fold::<T, kind::$kind>(fold);
                ItemReader {
                    form,
                    fold,
                    read: |_| Err(serde_json::Error::custom("not a `Result`")),
                }
            }
        }
    )*};
}

impl_for_other_types!(JsonOutput ContentOutput);

/// An item that can be read from JSON. The kind `K` is always inferred.
pub trait FromItem<K>: Sized {
    /// Deserializes the item.
    fn from_item(json: Value) -> serde_json::Result<Self>;
}

impl<T: DeserializeOwned + JsonSchema> FromItem<kind::JsonOutput> for T {
    fn from_item(json: Value) -> serde_json::Result<Self> {
        read_item(json)
    }
}

impl<T: FromBlock> FromItem<kind::ContentOutput> for T {
    fn from_item(json: Value) -> serde_json::Result<Self> {
        T::from_block(serde_json::from_value(json)?)
    }
}

/// Encoding and deserialization of stream items.
pub struct ItemReader<T> {
    pub(crate) form: Form,
    pub(crate) fold: Fold,
    #[cfg_attr(
        not(feature = "client"),
        allow(dead_code, reason = "only the client reads items")
    )]
    pub(crate) read: fn(Value) -> serde_json::Result<T>,
}

impl<T> Clone for ItemReader<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ItemReader<T> {}

impl<T> fmt::Debug for ItemReader<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ItemReader")
            .field("form", &self.form)
            .field("fold", &self.fold)
            .finish_non_exhaustive()
    }
}
