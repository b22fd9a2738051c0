//! The contract between the server and the client that `#[mcp_client]` generates from one trait: requirements on user
//! types, and the metadata of the trait.

mod argument;
mod content;
mod item;
mod output;
mod structured;

use std::fmt;

#[cfg(feature = "client")]
use treenail_schema::{SchemaObject, Tool as Descriptor};

pub use self::argument::{Arguments, ContractArgument, Given};
pub use self::content::{FromBlock, FromContent};
pub use self::item::{ContractItem, FromItem, ItemReader};
pub use self::output::{ContractOutput, Fallible, FromToolResult, OutputReader};
#[cfg(feature = "client")]
pub(crate) use self::output::{read_text, text_of, text_of_blocks};
#[cfg(feature = "client")]
pub(crate) use self::structured::read_structured;
#[cfg(feature = "client")]
use crate::error::{Error, Result};
use crate::tool::ToolDefinition;

/// Metadata of a trait with `#[mcp_client]`, for a type `S` that implements it.
pub struct TraitContract<S> {
    /// Namespace of the tools; empty for tools without a prefix.
    pub namespace: &'static str,
    /// The documentation of the trait.
    pub instructions: &'static str,
    /// The tools in source order.
    pub tools: fn() -> Vec<ToolDefinition<S>>,
}

impl<S> fmt::Debug for TraitContract<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TraitContract")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "client")]
impl<S: Send + Sync + 'static> TraitContract<S> {
    /// Returns the descriptors of the tools in `namespace`, as peers receive them, with the schemas of undeclared outputs.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if a server with these tools could not be built.
    pub(crate) fn describe(
        &self,
        namespace: &str,
    ) -> Result<Vec<(Descriptor, Option<SchemaObject>)>> {
        let tools = (self.tools)().into_iter();
        let described = tools.map(|tool| tool.describe(namespace));
        described.collect::<Result<_, _>>().map_err(Error::Build)
    }
}

/// Adds the name of a part of the state as a prefix to the names of its tools.
pub fn prefix_names<S>(
    part: &'static str,
    tools: Vec<ToolDefinition<S>>,
) -> Vec<ToolDefinition<S>> {
    let mut tools = tools;
    for tool in &mut tools {
        tool.metadata.name = format!("{part}.{}", tool.metadata.name).into();
    }
    tools
}
