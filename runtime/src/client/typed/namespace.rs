//! Content of the client of a trait.

use std::sync::Arc;

use crate::client::typed::call::TypedCall;
use crate::client::typed::decode::{output_error, require_success};
use crate::client::typed::stream::TypedStream;
use crate::client::{Contract, McpClient};
use crate::error::Result;
use crate::typed_contract::{Arguments, ItemReader, OutputReader, TraitContract};

/// Describes a trait as a contract.
///
/// # Errors
///
/// [`Error::Build`](crate::Error::Build) if a server with the same trait could not be built.
pub fn describe_trait<S: Send + Sync + 'static>(contract: &TraitContract<S>) -> Result<Contract> {
    let described = contract.describe(contract.namespace)?;
    let outputs = described.iter();
    let undeclared = outputs.filter_map(|(tool, output)| Some((&*tool.name, output.clone()?)));
    let contract = Contract::new().with_undeclared_outputs(undeclared);
    Ok(contract.with_tools(described.into_iter().map(|(tool, _)| tool)))
}

/// Client whose calls are limited to the tools of a namespace.
#[derive(Clone, Debug)]
pub struct NamespacedClient {
    client: McpClient,
    namespace: Arc<str>,
}

impl NamespacedClient {
    /// Selects the tools of a namespace; an empty string means tools without one.
    pub fn new(client: &McpClient, namespace: impl Into<Arc<str>>) -> Self {
        Self {
            client: client.clone(),
            namespace: namespace.into(),
        }
    }

    /// Returns the namespace, the part of the tool names before the dot.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the underlying client.
    pub const fn client(&self) -> &McpClient {
        &self.client
    }

    /// Returns the full name of a tool.
    pub fn name(&self, tool: &str) -> String {
        if self.namespace.is_empty() {
            return tool.to_owned();
        }
        format!("{}.{tool}", self.namespace)
    }

    /// Creates a call of a tool.
    pub fn call<T: 'static>(
        &self,
        tool: &str,
        arguments: &Arguments,
        reader: OutputReader<T>,
    ) -> TypedCall<T> {
        let decode = move |result| {
            reader(require_success(result)?).map_err(|error| output_error::<T>(&error))
        };
        TypedCall::with_decoder(
            &self.client,
            self.name(tool).into(),
            arguments,
            Box::new(decode),
        )
    }

    /// Creates a call of a streaming tool.
    pub fn stream<T>(
        &self,
        tool: &str,
        arguments: &Arguments,
        reader: ItemReader<T>,
    ) -> TypedStream<T> {
        TypedStream::new(&self.client, self.name(tool), arguments, reader)
    }
}
