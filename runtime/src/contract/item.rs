//! What a tool streams, written by the server half and read by the client half.

use std::error::Error;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use crate::contract::content::FromBlock;
use crate::contract::structured::read_item;
use crate::function::kind::{self, Kind};
use crate::stream::{Fold, Form, Items, ToolItem, folded};

/// A type that a tool can stream where one trait has a server half and a client half.
///
/// As [`ToolItem`](crate::ToolItem), and values have to be readable too: [`serde::Deserialize`], which `#[mcp_type]`
/// derives with the others. The parameters, the way in which it is written and what the client gets, are always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be streamed by a tool that has a client",
    label = "an item needs `Serialize`, `Deserialize` and `JsonSchema`",
    note = "put `#[mcp_type]` on your own types, or stream content blocks; the error is any `Error`"
)]
pub trait ContractItem<K, T>: Sized {
    /// How the server writes the items.
    fn items(kind: Kind<K>, fold: Option<Fold>) -> Items<Self>;

    /// How the client reads them.
    fn reader(kind: Kind<K>, fold: Option<Fold>) -> ItemReader<T>;
}

#[diagnostic::do_not_recommend]
impl<T, E, K> ContractItem<kind::Fallible<K>, T> for Result<T, E>
where
    T: ToolItem<K> + FromItem<K>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn items(kind: Kind<kind::Fallible<K>>, fold: Option<Fold>) -> Items<Self> {
        <Self as ToolItem<_>>::items(kind, fold)
    }

    fn reader(_: Kind<kind::Fallible<K>>, fold: Option<Fold>) -> ItemReader<T> {
        let (form, fold) = folded::<T, K>(fold);
        ItemReader {
            form,
            fold,
            read: T::from_item,
        }
    }
}

/// What is no `Result` is refused by [`Fallible`](super::Fallible), in one place.
macro_rules! refused_elsewhere {
    ($($kind:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: ToolItem<kind::$kind>> ContractItem<kind::$kind, ()> for T {
            fn items(kind: Kind<kind::$kind>, fold: Option<Fold>) -> Items<Self> {
                <Self as ToolItem<_>>::items(kind, fold)
            }

            fn reader(_: Kind<kind::$kind>, fold: Option<Fold>) -> ItemReader<()> {
                let (form, fold) = folded::<T, kind::$kind>(fold);
                ItemReader {
                    form,
                    fold,
                    read: |_| Err(serde_json::Error::custom("not a `Result`")),
                }
            }
        }
    )*};
}

refused_elsewhere!(Json Content);

/// An item that is read from its JSON; the kind `K` is always inferred.
pub trait FromItem<K>: Sized {
    /// Reads it.
    fn from_item(json: Value) -> serde_json::Result<Self>;
}

impl<T: DeserializeOwned + JsonSchema> FromItem<kind::Json> for T {
    fn from_item(json: Value) -> serde_json::Result<Self> {
        read_item(json)
    }
}

impl<T: FromBlock> FromItem<kind::Content> for T {
    fn from_item(json: Value) -> serde_json::Result<Self> {
        T::from_block(serde_json::from_value(json)?)
    }
}

/// How the items of a stream come, and how they are read.
pub struct ItemReader<T> {
    pub(crate) form: Form,
    pub(crate) fold: Fold,
    #[cfg_attr(not(feature = "client"), allow(dead_code, reason = "the client reads"))]
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
