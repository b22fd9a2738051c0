//! The arguments of a call, from Rust types to JSON: what the client half does with them.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::function::argument::{Argument, ToolArgument, absent};

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

    /// Whether nothing at all stands for the same value, if the argument has no default.
    fn is_nothing(&self, json: &str) -> bool;

    /// Writes the argument.
    fn put(&self, arguments: &mut Arguments, name: &'static str, has_default: bool);
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema + Send + 'static> ContractArgument for T {
    fn argument(name: &'static str) -> Argument<Self> {
        <T as ToolArgument>::argument(name)
    }

    fn is_nothing(&self, json: &str) -> bool {
        let read = || absent::<T>().and_then(|value| to_raw_value(&value).ok());
        json == "null" && read().is_some_and(|nothing| nothing.get() == json)
    }

    fn put(&self, arguments: &mut Arguments, name: &'static str, has_default: bool) {
        let json = match to_raw_value(self) {
            // Where there is a default, nothing stands for that.
            Ok(json) if !has_default && self.is_nothing(json.get()) => return,
            json => json,
        };
        arguments.0.push((name, json));
    }
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
    pub fn with(
        mut self,
        name: &'static str,
        has_default: bool,
        value: &impl ContractArgument,
    ) -> Self {
        value.put(&mut self, name, has_default);
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
