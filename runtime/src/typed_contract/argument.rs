//! Serialization of call arguments by a typed client.

use std::borrow::Cow;
use std::collections::HashSet;
use std::mem::discriminant;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::function::argument::{Argument, ToolArgument, value_if_missing};
use crate::wire::{Members, raw_json};

/// A type that can be an argument of a trait that has both a server and a client: the server deserializes it, the
/// client serializes it.
///
/// Implemented for every type that implements [`serde::Serialize`], [`serde::Deserialize`] and
/// [`schemars::JsonSchema`]; `#[mcp_type]` derives them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool that has a client",
    label = "an argument needs `Serialize`, `Deserialize` and `JsonSchema`",
    note = "put `#[mcp_type]` on your own types; take call values such as `cx: &Context` by reference"
)]
pub trait ContractArgument: Sized + Send + 'static {
    /// Returns the schema and the conversion of the argument called `name`, for the server.
    fn argument(name: &'static str) -> Argument<Self>;

    /// Serializes the value for a request.
    ///
    /// A value that equals a missing argument, such as `None`, is omitted. If the argument has a default, it is sent as
    /// `null`, as `Some(None)` is. A struct around an `Option<Option<T>>` cannot be distinguished, and is omitted for both.
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
            json: (!may_be_absent || !is_missing_value(self)).then_some(json),
        }
    }
}

/// Returns whether a value whose JSON is `null` is that of a missing argument. `Some(None)` is not.
fn is_missing_value<T: Serialize + DeserializeOwned>(value: &T) -> bool {
    let missing = value_if_missing::<T>();
    missing.is_some_and(|missing| {
        discriminant(&missing) == discriminant(value)
            && raw_json(&missing).is_ok_and(|json| json.get() == "null")
    })
}

/// An argument as JSON; `None` if it is omitted.
#[derive(Debug)]
pub struct Given {
    name: &'static str,
    json: Option<serde_json::Result<Box<RawValue>>>,
}

/// The arguments of one call, in order.
#[derive(Debug, Default)]
pub struct Arguments {
    entries: Vec<Entry>,
    /// True if members of a flattened argument are among them, which may have the name of another argument.
    has_fields: bool,
}

/// The name of an argument, and its JSON.
type Entry = (Cow<'static, str>, serde_json::Result<Box<RawValue>>);

/// Returns the members of an object.
fn fields(json: &RawValue) -> serde_json::Result<Vec<Entry>> {
    let not_an_object = |_| serde_json::Error::custom("a flattened argument must be an object");
    let mut members = Members::new(json.get()).map_err(not_an_object)?;
    let mut fields = Vec::new();
    while let Some((name, text)) = members.next().map_err(not_an_object)? {
        let name = name.into_owned().into();
        fields.push((name, RawValue::from_string(text.to_owned())));
    }
    Ok(fields)
}

impl Arguments {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an argument.
    #[inline]
    #[must_use]
    pub fn with(mut self, Given { name, json }: Given) -> Self {
        self.entries.extend(json.map(|json| (name.into(), json)));
        self
    }

    /// Appends the members of an argument that is flattened, an object.
    #[must_use]
    pub fn with_fields(mut self, Given { name, json }: Given) -> Self {
        self.has_fields = true;
        match json.map(|json| json.and_then(|json| fields(&json))) {
            Some(Ok(fields)) => self.entries.extend(fields),
            Some(Err(error)) => self.entries.push((name.into(), Err(error))),
            None => {}
        }
        self
    }
}

impl Arguments {
    /// Returns a name that two arguments have. A server could take the value of either.
    fn repeated(&self) -> Option<&str> {
        let mut names = HashSet::new();
        let mut entries = self.entries.iter().filter(|_| self.has_fields);
        let repeated = entries.find(|(name, _)| !names.insert(name));
        repeated.map(|(name, _)| &**name)
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(name) = self.repeated() {
            return Err(S::Error::custom(format!(
                "`{name}` is an argument, and a member of the flattened argument"
            )));
        }
        let mut object = serializer.serialize_map(Some(self.entries.len()))?;
        for (name, json) in &self.entries {
            let json = json.as_ref();
            let json = json.map_err(|error| S::Error::custom(format!("`{name}`: {error}")))?;
            object.serialize_entry(name, json)?;
        }
        object.end()
    }
}
