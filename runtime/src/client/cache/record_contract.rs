//! Recording of a live server's contract, and its comparison with an earlier one.

use std::future::Future;
use std::sync::Arc;

use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::client::cache::list::{CachedList, ListSource};
use crate::client::cache::page::{ListItem, Page, SizedPage};
use crate::client::cache::{Inner, McpClient};
use crate::client::{ClientError, Contract, Drift, Severity};

/// Contract that a server has to fulfil when the client connects.
#[derive(Debug)]
pub(super) struct ExpectedContract {
    pub(super) contract: Contract,
    /// Least severity at which the connection fails; `None` accepts all changes.
    pub(super) threshold: Option<Severity>,
}

/// Lists that a recording fetches.
#[derive(Clone, Copy, Debug)]
enum RecordedLists {
    Tools,
    AllButResources,
    All,
}

impl McpClient {
    /// Records the contract of the server as it is now, without its resources, because many servers add and remove
    /// resources at run time. Fetches each list again whose capability the server declares.
    ///
    /// Over HTTP, tools whose `x-mcp-header` breaks the rules of the protocol or the limits of [`tools`](Self::tools) are
    /// omitted. Of two tools or prompts with one name, or two templates with one URI template, the first is used.
    ///
    /// ```
    /// # use treenail::Server;
    /// # use treenail::client::McpClient;
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
        self.record_contract(RecordedLists::AllButResources).await
    }

    /// Records the contract like [`contract`](Self::contract), including the listed resources.
    ///
    /// # Errors
    ///
    /// When a list cannot be fetched.
    pub async fn contract_with_resources(&self) -> Result<Contract, ClientError> {
        self.record_contract(RecordedLists::All).await
    }

    /// Compares the server as it is now with a contract; see [`Contract::drift`]. Fetches only the lists that the
    /// contract covers.
    ///
    /// ```
    /// # use treenail::client::{Contract, McpClient};
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
        let lists = match (contract.is_limited_to_tools(), contract.resources()) {
            (true, _) => RecordedLists::Tools,
            (false, None) => RecordedLists::AllButResources,
            (false, Some(_)) => RecordedLists::All,
        };
        let live = self.record_contract(lists).await?;
        Ok(contract.drift_within(&live, &self.session().limits().drift))
    }

    /// Returns the drift found when connecting, if the builder has a contract. Drift that was severe enough to fail is
    /// in the error of `build` instead.
    pub fn drift(&self) -> Option<&Drift> {
        self.inner.drift.get()
    }

    /// Compares the server with the expected contract. Returns an error if the drift reaches the threshold, and stores
    /// the drift otherwise.
    pub(super) async fn enforce_contract(
        &self,
        expected: &ExpectedContract,
    ) -> Result<(), ClientError> {
        let drift = self.check(&expected.contract).await?;
        let worst = drift.worst();
        if expected.threshold.is_some_and(|least| worst >= Some(least)) {
            return Err(ClientError::Drift(Arc::new(drift)));
        }
        if worst.is_some() {
            tracing::warn!(%drift, "the server differs from its contract");
        }
        // Set once, before the client is returned to the caller.
        let _ = self.inner.drift.set(drift);
        Ok(())
    }

    async fn record_contract(&self, lists: RecordedLists) -> Result<Contract, ClientError> {
        let inner = &*self.inner;
        let mut contract = known_contract(inner);
        if let Some(source) = self.tools_source() {
            contract = contract
                .with_tools(fetch_items::<Tool, _, _, _>(&inner.lists.tools, source).await?);
        }
        if matches!(lists, RecordedLists::Tools) {
            return Ok(contract);
        }
        if let Some(source) = self.prompts_source() {
            let prompts = fetch_items::<Prompt, _, _, _>(&inner.lists.prompts, source).await?;
            contract = contract.with_prompts(prompts);
        }
        if let Some(source) = self.templates_source() {
            let list = &inner.lists.templates;
            let templates = fetch_items::<ResourceTemplate, _, _, _>(list, source).await?;
            contract = contract.with_resource_templates(templates);
        }
        if matches!(lists, RecordedLists::AllButResources) {
            return Ok(contract);
        }
        let resources = match self.resources_source() {
            Some(source) => {
                fetch_items::<Resource, _, _, _>(&inner.lists.resources, source).await?
            }
            None => Vec::new(),
        };
        Ok(contract.with_resources(resources))
    }
}

/// Returns the part of the contract that is known without a further request.
fn known_contract(inner: &Inner) -> Contract {
    let info = inner.session.peer_info();
    let mut contract = Contract::new()
        .with_protocol_version(info.revision.to_string())
        .with_client_capabilities(inner.session.client_capabilities());
    if let Some(server) = info.info.clone() {
        contract = contract.with_server(server);
    }
    match info.instructions.clone() {
        Some(instructions) => contract.with_instructions(instructions),
        None => contract,
    }
}

/// Fetches all items of a list again.
async fn fetch_items<T, F, A, P>(
    list: &CachedList<T>,
    source: ListSource<'_, F>,
) -> Result<Vec<T>, ClientError>
where
    T: ListItem + Clone,
    F: Fn(Option<String>) -> A,
    A: Future<Output = Result<SizedPage<P>, ClientError>>,
    P: Into<Page<T>>,
{
    let snapshot = list.refresh(source).await?;
    Ok(snapshot.items.iter().map(|item| T::clone(item)).collect())
}
