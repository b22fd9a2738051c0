//! What both halves of a trait with `#[mcp_client]` share: what they ask of the user's types, and what the trait says of
//! itself.

mod argument;
mod content;
mod item;
mod output;
mod structured;

use std::fmt;

#[cfg(feature = "client")]
use treenail_schema::Tool as Descriptor;

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

/// What a trait with `#[mcp_client]` says of itself, for a type `S` that implements it.
pub struct TraitContract<S> {
    /// What the names of the tools begin with, before a dot; empty if with nothing.
    pub namespace: &'static str,
    /// The documentation of the trait.
    pub instructions: &'static str,
    /// The tools, in the order in which they are written.
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
    /// The tools as peers see them, in `namespace`.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] where a server could not be built either.
    pub(crate) fn describe(&self, namespace: &str) -> Result<Vec<Descriptor>> {
        let tools = (self.tools)().into_iter();
        let described = tools.map(|tool| tool.describe(namespace));
        described.collect::<Result<_, _>>().map_err(Error::Build)
    }
}

/// The tools of a part of the state, as tools of the whole: their names begin with that of the part.
pub fn within<S>(part: &'static str, tools: Vec<ToolDefinition<S>>) -> Vec<ToolDefinition<S>> {
    let mut tools = tools;
    for tool in &mut tools {
        tool.metadata.name = format!("{part}.{}", tool.metadata.name).into();
    }
    tools
}
