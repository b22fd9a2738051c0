//! What is inside of the client of a trait.

use std::sync::Arc;

use crate::client::typed::call::TypedCall;
use crate::client::typed::read::{succeeded, unfit};
use crate::client::typed::stream::TypedStream;
use crate::client::{Contract, McpClient};
use crate::error::Result;
use crate::typed_contract::{Arguments, ItemReader, OutputReader, TraitContract};

/// What a trait says of itself, as data.
///
/// # Errors
///
/// [`Error::Build`](crate::Error::Build) where a server could not be built either.
pub fn described<S: Send + Sync + 'static>(contract: &TraitContract<S>) -> Result<Contract> {
    let tools = contract.describe(contract.namespace)?;
    Ok(Contract::new().with_tools(tools))
}

/// A client, and what the names of the tools begin with that it calls.
#[derive(Clone, Debug)]
pub struct Scope {
    client: McpClient,
    namespace: Arc<str>,
}

impl Scope {
    /// The tools of a namespace; an empty one is none.
    pub fn new(client: &McpClient, namespace: impl Into<Arc<str>>) -> Self {
        Self {
            client: client.clone(),
            namespace: namespace.into(),
        }
    }

    /// What the names of the tools begin with.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The client that calls are made with.
    pub const fn client(&self) -> &McpClient {
        &self.client
    }

    /// The name of a tool.
    pub fn name(&self, tool: &str) -> String {
        if self.namespace.is_empty() {
            return tool.to_owned();
        }
        format!("{}.{tool}", self.namespace)
    }

    /// A call of a tool.
    pub fn call<T: 'static>(
        &self,
        tool: &str,
        arguments: &Arguments,
        read: OutputReader<T>,
    ) -> TypedCall<T> {
        let read = move |result| read(succeeded(result)?).map_err(|error| unfit::<T>(&error));
        TypedCall::read_by(
            &self.client,
            self.name(tool).into(),
            arguments,
            Box::new(read),
        )
    }

    /// A call of a tool that streams.
    pub fn stream<T>(
        &self,
        tool: &str,
        arguments: &Arguments,
        reader: ItemReader<T>,
    ) -> TypedStream<T> {
        TypedStream::new(&self.client, self.name(tool), arguments, reader)
    }
}
