//! Contracts: the tools, prompts and resources of an MCP server as data, which can be recorded, written to a lock file and
//! compared with the live server.
//!
//! Use the crate `treenail`, which re-exports all of this in `treenail::client`.
//!
//! Modules:
//!
//! - `file`: the lock file; `canonical`: the form of its entries; `recorder`: the capabilities of the recording client.
//! - `compare`: comparison of two contracts, within `limits`; `drift`: its result.
//! - `keyword`: classification of JSON Schema keywords; `escape`: invisible characters.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod canonical;
mod compare;
mod drift;
mod error;
mod escape;
mod file;
mod keyword;
mod limits;
mod recorder;

use std::collections::{BTreeMap, BTreeSet};

use treenail_schema::{
    ClientCapabilities, Implementation, Prompt, Resource, ResourceTemplate, SchemaObject, Tool,
};

pub use self::drift::{Change, Drift, Severity, Subject};
pub use self::error::ContractError;
pub use self::escape::is_invisible;
pub use self::limits::DriftLimits;

/// The tools, prompts, resource templates and resources of a server as data, with the name, version and instructions of the
/// server.
///
/// `McpClient::contract` records a contract. [`to_json`](Self::to_json) and [`from_json`](Self::from_json) write and read
/// it as a *lock file*.
///
/// A contract has a canonical form, independent of the order in which a server sends its entries. Lists are sorted by name
/// (templates by their URI template, resources by their URI). In schemas, the keys of objects are sorted, and so are
/// `required` and `type`, which are sets. `_meta` and `icons` are omitted. Of two entries with one name, the first is used.
///
/// ```
/// use serde_json::json;
/// use treenail::client::Contract;
/// use treenail::schema::Tool;
///
/// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
/// let tool = Tool::new("forecast", schema.as_object().cloned().unwrap_or_default());
/// let contract = Contract::new().with_tools([tool]);
///
/// let file = contract.to_json();
/// assert_eq!(Contract::from_json(&file)?, contract);
/// # Ok::<_, treenail::client::ContractError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contract {
    server: Option<Implementation>,
    protocol_version: Option<String>,
    /// Names of the capabilities that the recording client declares.
    client_capabilities: Option<BTreeSet<String>>,
    instructions: Option<String>,
    tools: Vec<Tool>,
    /// Schemas of the results of tools that declare none, by the names of the tools.
    undeclared_outputs: BTreeMap<String, SchemaObject>,
    prompts: Vec<Prompt>,
    resource_templates: Vec<ResourceTemplate>,
    resources: Option<Vec<Resource>>,
    /// Names of the tools that the contract is limited to.
    only: Option<BTreeSet<String>>,
}

impl Contract {
    /// Creates an empty contract.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name and version of the server. Other members of `server` are ignored.
    #[must_use]
    pub fn with_server(mut self, server: Implementation) -> Self {
        self.server = Some(Implementation::new(server.name, server.version));
        self
    }

    /// Sets the negotiated protocol version, such as `2026-07-28`.
    #[must_use]
    pub fn with_protocol_version(mut self, version: impl Into<String>) -> Self {
        self.protocol_version = Some(version.into());
        self
    }

    /// Sets the capabilities of the recording client. Servers may hide features that a client cannot use, such as tools that
    /// require elicitation. If an entry is removed, the [`Drift`] therefore mentions the capabilities that the live client
    /// lacks. Only the names of capabilities are recorded.
    #[must_use]
    pub fn with_client_capabilities(mut self, capabilities: &ClientCapabilities) -> Self {
        self.client_capabilities = Some(recorder::capability_names(capabilities));
        self
    }

    /// Sets the instructions of the server for models.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the tools.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools = canonical::canonical_list(tools);
        self
    }

    /// Sets the schemas of the results of tools that declare none, by the names of the tools. The contract of a trait has those of
    /// methods that return a text or nothing. The [`drift`](Self::drift) compares them with the schema that the tool of the live server
    /// declares, or with the undeclared output if the other contract is that of a trait, too.
    ///
    /// ```
    /// use serde_json::json;
    /// use treenail::client::{Contract, Severity};
    /// use treenail::schema::Tool;
    ///
    /// let schema = |json: serde_json::Value| json.as_object().cloned().unwrap_or_default();
    /// let mut tool = Tool::new("temperature", schema(json!({"type": "object"})));
    /// let contract = Contract::new()
    ///     .with_tools([tool.clone()])
    ///     .with_undeclared_outputs([("temperature", schema(json!({"type": "string"})))]);
    ///
    /// tool.output_schema = Some(schema(json!({"type": "number"})).into());
    /// let drift = contract.drift(&Contract::new().with_tools([tool]));
    /// assert_eq!(drift.worst(), Some(Severity::Breaking));
    /// ```
    #[must_use]
    pub fn with_undeclared_outputs<N: Into<String>, O: Into<SchemaObject>>(
        mut self,
        outputs: impl IntoIterator<Item = (N, O)>,
    ) -> Self {
        let outputs = outputs.into_iter();
        self.undeclared_outputs = outputs
            .map(|(name, output)| (name.into(), canonical::schema_object(&output.into())))
            .collect();
        self
    }

    /// Sets the prompts.
    #[must_use]
    pub fn with_prompts(mut self, prompts: impl IntoIterator<Item = Prompt>) -> Self {
        self.prompts = canonical::canonical_list(prompts);
        self
    }

    /// Sets the resource templates.
    #[must_use]
    pub fn with_resource_templates(
        mut self,
        templates: impl IntoIterator<Item = ResourceTemplate>,
    ) -> Self {
        self.resource_templates = canonical::canonical_list(templates);
        self
    }

    /// Sets the resources. A contract without them does not cover resources, because they change often on many servers.
    #[must_use]
    pub fn with_resources(mut self, resources: impl IntoIterator<Item = Resource>) -> Self {
        self.resources = Some(canonical::canonical_list(resources));
        self
    }

    /// Returns a contract that is limited to these tools, for a program that uses nothing else of the server. Its
    /// [`drift`](Self::drift) ignores all other changes.
    ///
    /// ```
    /// # use treenail::client::Contract;
    /// # use treenail::schema::Tool;
    /// # let tool = |name: &str| Tool::new(name, serde_json::Map::new());
    /// let recorded = Contract::new().with_tools([tool("add"), tool("forget")]);
    /// let used = recorded.only_tools(["add"])?;
    /// assert_eq!(used.tools().len(), 1);
    /// assert!(used.drift(&Contract::new().with_tools([tool("add")])).is_empty());
    /// # Ok::<_, treenail::client::ContractError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ContractError::UnknownTool`] if the contract does not have one of the tools.
    pub fn only_tools<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, ContractError> {
        let only: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        if let Some(name) = only.iter().find(|name| self.tool(name).is_none()) {
            return Err(ContractError::UnknownTool(name.clone()));
        }
        let tools = self.tools.iter().filter(|tool| only.contains(&tool.name));
        let mut undeclared_outputs = self.undeclared_outputs.clone();
        undeclared_outputs.retain(|name, _| only.contains(name));
        Ok(Self {
            server: self.server.clone(),
            protocol_version: self.protocol_version.clone(),
            client_capabilities: self.client_capabilities.clone(),
            tools: tools.cloned().collect(),
            undeclared_outputs,
            only: Some(only),
            ..Self::default()
        })
    }

    /// Returns `true` if the contract is limited to some tools.
    pub fn is_limited_to_tools(&self) -> bool {
        self.only.is_some()
    }

    /// Returns the name and version of the server, if known.
    pub fn server(&self) -> Option<&Implementation> {
        self.server.as_ref()
    }

    /// Returns the protocol version, if known.
    pub fn protocol_version(&self) -> Option<&str> {
        self.protocol_version.as_deref()
    }

    /// Returns the names of the capabilities of the recording client, such as `elicitation` and `elicitation.form`, if known.
    pub fn client_capabilities(&self) -> Option<impl Iterator<Item = &str>> {
        let names = self.client_capabilities.as_ref()?;
        Some(names.iter().map(String::as_str))
    }

    /// Returns the instructions of the server for models.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Returns the tools, sorted by name.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns the tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        let index = self
            .tools
            .binary_search_by(|tool| tool.name.as_str().cmp(name));
        index.ok().map(|index| &self.tools[index])
    }

    /// Returns the prompts, sorted by name.
    pub fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    /// Returns the resource templates, sorted by URI template.
    pub fn resource_templates(&self) -> &[ResourceTemplate] {
        &self.resource_templates
    }

    /// Returns the resources, sorted by URI, if the contract covers them.
    pub fn resources(&self) -> Option<&[Resource]> {
        self.resources.as_deref()
    }
}

#[cfg(test)]
mod tests;
