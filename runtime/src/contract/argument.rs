//! The arguments of a call, from Rust types to JSON: what the client half does with them.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::function::argument::{Argument, ToolArgument, absent};
use crate::wire::raw_json;

/// A type that can be an argument where one trait has a server half and a client half: the server reads it, the client
/// writes it.
///
/// It is implemented for every type that implements [`serde::Serialize`], [`serde::Deserialize`] and
/// [`schemars::JsonSchema`]; `#[mcp_type]` derives them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool that has a client",
    label = "an argument needs `Serialize`, `Deserialize` and `JsonSchema`",
    note = "put `#[mcp_type]` on your own types; take what belongs to the call by reference, as in `cx: &Context`"
)]
pub trait ContractArgument: Sized + Send + 'static {
    /// How the server describes and reads the argument called `name`.
    fn argument(name: &'static str) -> Argument<Self>;

    /// How the client writes it. A value that nothing at all stands for, such as `None`, is left out, unless nothing stands
    /// for a default.
    fn given(&self, name: &'static str, has_default: bool) -> Given;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema + Send + 'static> ContractArgument for T {
    fn argument(name: &'static str) -> Argument<Self> {
        <T as ToolArgument>::argument(name)
    }

    fn given(&self, name: &'static str, has_default: bool) -> Given {
        let json = raw_json(self);
        let is_null = json.as_ref().is_ok_and(|json| json.get() == "null");
        let may_be_absent = is_null && !has_default;
        Given {
            name,
            json: (!may_be_absent || !is_nothing_null::<T>()).then_some(json),
        }
    }
}

/// Whether what is read from nothing is also what null is read as.
fn is_nothing_null<T: Serialize + DeserializeOwned>() -> bool {
    let nothing = absent::<T>().and_then(|value| raw_json(&value).ok());
    nothing.is_some_and(|nothing| nothing.get() == "null")
}

/// An argument as JSON; `None` if it is left out.
#[derive(Debug)]
pub struct Given {
    name: &'static str,
    json: Option<serde_json::Result<Box<RawValue>>>,
}

/// The arguments of one call, in order.
#[derive(Debug, Default)]
pub struct Arguments(Vec<(&'static str, serde_json::Result<Box<RawValue>>)>);

impl Arguments {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more.
    #[must_use]
    pub fn with(mut self, Given { name, json }: Given) -> Self {
        self.0.extend(json.map(|json| (name, json)));
        self
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.0.len()))?;
        for (name, json) in &self.0 {
            let json = json.as_ref();
            let json = json.map_err(|error| S::Error::custom(format!("`{name}`: {error}")))?;
            object.serialize_entry(name, json)?;
        }
        object.end()
    }
}
