//! What a server offers, as data: recorded, kept in a file, compared with what a server offers now.

mod canonical;
mod compare;
mod drift;
mod error;
mod file;
mod keyword;
mod limits;
mod recorder;
mod visible;

use std::collections::BTreeSet;

use treenail_schema::{
    ClientCapabilities, Implementation, Prompt, Resource, ResourceTemplate, Tool,
};

pub use self::drift::{Change, Drift, Severity, Subject};
pub use self::error::ContractError;
pub use self::limits::DriftLimits;
pub use self::visible::is_invisible;

/// What a server offers, as data: its tools, prompts and templates for URIs, and what is known of the server itself.
///
/// [`McpClient::contract`](crate::Contract) records one, [`to_json`](Self::to_json) and
/// [`from_json`](Self::from_json) write and read it as a *lock file*.
///
/// A contract has one form, whatever order a server sends things in: lists are sorted by name (templates by their URI
/// template, resources by their URI), and so are the keys of objects within schemas, and `required` and `type`, which are
/// sets. What is not for programs is left out (`_meta`, `icons`). Of two things with one name, the first counts.
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
    /// Names of what the recording client declares.
    client_capabilities: Option<BTreeSet<String>>,
    instructions: Option<String>,
    tools: Vec<Tool>,
    prompts: Vec<Prompt>,
    resource_templates: Vec<ResourceTemplate>,
    resources: Option<Vec<Resource>>,
    /// The tools that are looked at, if not all is.
    only: Option<BTreeSet<String>>,
}

impl Contract {
    /// A contract with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name and version of the server; what else there is in `server` is left out.
    #[must_use]
    pub fn with_server(mut self, server: Implementation) -> Self {
        self.server = Some(Implementation::new(server.name, server.version));
        self
    }

    /// Sets the revision that was spoken, as in `2026-07-28`.
    #[must_use]
    pub fn with_protocol_version(mut self, version: impl Into<String>) -> Self {
        self.protocol_version = Some(version.into());
        self
    }

    /// Sets the capabilities of the client that the server offers this to. Servers may hide what a client cannot use, such as
    /// tools that ask the user; a [`Drift`] mentions capabilities that are missing where something is gone. Only the names of
    /// capabilities are recorded.
    #[must_use]
    pub fn with_client_capabilities(mut self, capabilities: &ClientCapabilities) -> Self {
        self.client_capabilities = Some(recorder::names(capabilities));
        self
    }

    /// Sets what the server tells a model of its use.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the tools.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools = canonical::list(tools);
        self
    }

    /// Sets the prompts.
    #[must_use]
    pub fn with_prompts(mut self, prompts: impl IntoIterator<Item = Prompt>) -> Self {
        self.prompts = canonical::list(prompts);
        self
    }

    /// Sets the templates for URIs.
    #[must_use]
    pub fn with_resource_templates(
        mut self,
        templates: impl IntoIterator<Item = ResourceTemplate>,
    ) -> Self {
        self.resource_templates = canonical::list(templates);
        self
    }

    /// Sets the resources. A contract without them says nothing of resources, which come and go on many servers.
    #[must_use]
    pub fn with_resources(mut self, resources: impl IntoIterator<Item = Resource>) -> Self {
        self.resources = Some(canonical::list(resources));
        self
    }

    /// What a program needs that uses these tools and nothing else of the server: only they are in it, and what else a
    /// server offers makes no difference to it.
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
    /// When one of them is not in the contract.
    pub fn only_tools<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, ContractError> {
        let only: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        if let Some(name) = only.iter().find(|name| self.tool(name).is_none()) {
            return Err(ContractError::NoSuchTool(name.clone()));
        }
        let tools = self.tools.iter().filter(|tool| only.contains(&tool.name));
        Ok(Self {
            server: self.server.clone(),
            protocol_version: self.protocol_version.clone(),
            client_capabilities: self.client_capabilities.clone(),
            tools: tools.cloned().collect(),
            only: Some(only),
            ..Self::default()
        })
    }

    /// Whether it looks at some tools, and at nothing else.
    pub fn is_of_tools_only(&self) -> bool {
        self.only.is_some()
    }

    /// The name and version of the server, if they are known.
    pub fn server(&self) -> Option<&Implementation> {
        self.server.as_ref()
    }

    /// The revision that was spoken, if it is known.
    pub fn protocol_version(&self) -> Option<&str> {
        self.protocol_version.as_deref()
    }

    /// Names of the capabilities of the client that recorded it, such as `elicitation` and `elicitation.form`, if they are
    /// known.
    pub fn client_capabilities(&self) -> Option<impl Iterator<Item = &str>> {
        let names = self.client_capabilities.as_ref()?;
        Some(names.iter().map(String::as_str))
    }

    /// What the server tells a model of its use.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// The tools, by name.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool with this name, if there is one.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        let place = self
            .tools
            .binary_search_by(|tool| tool.name.as_str().cmp(name));
        place.ok().map(|place| &self.tools[place])
    }

    /// The prompts, by name.
    pub fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    /// The templates for URIs, by URI template.
    pub fn resource_templates(&self) -> &[ResourceTemplate] {
        &self.resource_templates
    }

    /// The resources by URI, if they are part of the contract.
    pub fn resources(&self) -> Option<&[Resource]> {
        self.resources.as_deref()
    }
}

#[cfg(test)]
mod tests;
