//! The contract of a live server: recorded, and compared with one that was recorded before.

use std::future::Future;
use std::sync::Arc;

use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::client::kept::list::{Kept, Listed, Page, Source, Weighed};
use crate::client::kept::{Inner, McpClient};
use crate::client::{ClientError, Contract, Drift, Severity};

/// What a server has to be when it is connected to.
#[derive(Debug)]
pub(super) struct Promised {
    pub(super) contract: Contract,
    /// From where on a change is refused.
    pub(super) refused: Option<Severity>,
}

/// Which lists are fetched.
#[derive(Clone, Copy, Debug)]
enum Lists {
    Tools,
    AllButResources,
    All,
}

impl McpClient {
    /// Records what the server offers now, its resources left out: on many servers they come and go. The lists are fetched
    /// anew, those of which the server has the capability.
    ///
    /// Over HTTP, tools are left out whose `x-mcp-header` breaks the rules of the protocol; of two things with one name, the
    /// first counts.
    ///
    /// ```
    /// # use treenail_runtime::Server;
    /// # use treenail_runtime::client::McpClient;
    /// # async fn example(client: McpClient) -> Result<(), Box<dyn std::error::Error>> {
    /// std::fs::write("weather.lock.json", client.contract().await?.to_json())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When a list cannot be fetched.
    pub async fn contract(&self) -> Result<Contract, ClientError> {
        self.record(Lists::AllButResources).await
    }

    /// [`contract`](Self::contract), with the resources that the server lists.
    ///
    /// # Errors
    ///
    /// When a list cannot be fetched.
    pub async fn contract_with_resources(&self) -> Result<Contract, ClientError> {
        self.record(Lists::All).await
    }

    /// Compares the server as it is now with a contract; see [`Contract::drift`]. Only the lists that the contract looks at
    /// are fetched.
    ///
    /// ```
    /// # use treenail_runtime::client::{Contract, McpClient};
    /// # async fn example(client: McpClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let recorded = Contract::from_json(&std::fs::read_to_string("weather.lock.json")?)?;
    /// let drift = client.check(&recorded).await?;
    /// if !drift.is_empty() {
    ///     println!("{drift}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When a list cannot be fetched. Drift is no error here.
    pub async fn check(&self, contract: &Contract) -> Result<Drift, ClientError> {
        let lists = match (contract.is_of_tools_only(), contract.resources()) {
            (true, _) => Lists::Tools,
            (false, None) => Lists::AllButResources,
            (false, Some(_)) => Lists::All,
        };
        let live = self.record(lists).await?;
        Ok(contract.drift_within(&live, &self.session().limits().drift))
    }

    /// How the server differed from the contract that the builder was given, when the connection was opened; `None` without
    /// one. What was refused is not here, but in the error.
    pub fn drift(&self) -> Option<&Drift> {
        self.inner.drift.get()
    }

    /// Compares the server with what was promised, and refuses it or keeps what was found.
    pub(super) async fn hold(&self, promised: &Promised) -> Result<(), ClientError> {
        let drift = self.check(&promised.contract).await?;
        let worst = drift.worst();
        if promised.refused.is_some_and(|least| worst >= Some(least)) {
            return Err(ClientError::Drift(Arc::new(drift)));
        }
        if worst.is_some() {
            tracing::warn!(%drift, "the server is not what its contract says");
        }
        // It is asked once, before anybody else has the client.
        let _ = self.inner.drift.set(drift);
        Ok(())
    }

    async fn record(&self, lists: Lists) -> Result<Contract, ClientError> {
        let inner = &*self.inner;
        let mut contract = known(inner);
        if let Some(source) = self.tools_source() {
            contract = contract.with_tools(all::<Tool, _, _, _>(&inner.lists.tools, source).await?);
        }
        if matches!(lists, Lists::Tools) {
            return Ok(contract);
        }
        if let Some(source) = self.prompts_source() {
            let prompts = all::<Prompt, _, _, _>(&inner.lists.prompts, source).await?;
            contract = contract.with_prompts(prompts);
        }
        if let Some(source) = self.templates_source() {
            let kept = &inner.lists.templates;
            let templates = all::<ResourceTemplate, _, _, _>(kept, source).await?;
            contract = contract.with_resource_templates(templates);
        }
        if matches!(lists, Lists::AllButResources) {
            return Ok(contract);
        }
        let resources = match self.resources_source() {
            Some(source) => all::<Resource, _, _, _>(&inner.lists.resources, source).await?,
            None => Vec::new(),
        };
        Ok(contract.with_resources(resources))
    }
}

/// What is known of the server without asking it.
fn known(inner: &Inner) -> Contract {
    let facts = inner.session.peer_info();
    let mut contract = Contract::new()
        .with_protocol_version(facts.revision.to_string())
        .with_client_capabilities(inner.session.client_capabilities());
    if let Some(info) = facts.info.clone() {
        contract = contract.with_server(info);
    }
    match facts.instructions.clone() {
        Some(instructions) => contract.with_instructions(instructions),
        None => contract,
    }
}

/// All items of a list, fetched anew.
async fn all<T, F, A, P>(kept: &Kept<T>, source: Source<'_, F>) -> Result<Vec<T>, ClientError>
where
    T: Listed + Clone,
    F: Fn(Option<String>) -> A,
    A: Future<Output = Result<Weighed<P>, ClientError>>,
    P: Into<Page<T>>,
{
    let fetched = kept.refresh(source).await?;
    Ok(fetched.items.iter().map(|item| T::clone(item)).collect())
}
