//! Catalog of the tools of all sources, by the names that the model sees.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use treenail_runtime::client::{ClientError, McpClient};
use treenail_runtime::internal;
use treenail_runtime::internal::timeout::timeout;
use treenail_schema::Tool;
use treenail_schema::internal::quoted;

use crate::names::{ToolKey, ToolNames, preferred_name};
use crate::output::{OutputType, SUBMIT};
use crate::report::Fault;
use crate::{RequestedCall, ToolChoice, ToolLoopLimits, ToolSource, Trust};

/// Catalog of the tools of all sources, by the names that the model sees.
#[derive(Debug)]
pub(super) struct Catalog {
    sources: Vec<SourceTools>,
    names: ToolNames,
    entries: Vec<ToolEntry>,
    positions: HashMap<String, usize>,
    /// Tool definitions as they are sent to the model.
    definitions: Vec<Tool>,
    output: Option<OutputType>,
    /// Tool that submits the output.
    submission: Option<Arc<Tool>>,
    limits: ToolLoopLimits,
}

/// A source and its cached tool list.
#[derive(Debug)]
struct SourceTools {
    name: String,
    source: ToolSource,
    client: Option<McpClient>,
    /// Version of the server's tool list at the time of the last fetch, which may have failed if it was not the first one.
    list_version: Option<u64>,
    tools: Vec<Arc<Tool>>,
}

/// A tool in the catalog.
#[derive(Clone, Debug)]
pub(super) struct ToolEntry {
    /// Name that the model sees.
    pub(super) name: String,
    pub(super) source: String,
    pub(super) tool: Arc<Tool>,
    pub(super) trust: Trust,
    pub(super) client: McpClient,
}

impl Catalog {
    /// Creates a catalog without any cached lists.
    pub(super) fn new(
        sources: &[(String, ToolSource)],
        output: Option<OutputType>,
        limits: &ToolLoopLimits,
    ) -> Result<Self, Fault> {
        let mut names = HashSet::new();
        for (name, _) in sources {
            if name.is_empty() {
                return Err(Fault::invalid("the name of a source is empty"));
            }
            if !names.insert(name) {
                return Err(Fault::invalid(format!("duplicate source name `{name}`")));
            }
        }
        let sources = sources.iter().map(|(name, source)| SourceTools {
            name: name.clone(),
            source: source.clone(),
            client: None,
            list_version: None,
            tools: Vec::new(),
        });
        Ok(Self {
            sources: sources.collect(),
            names: ToolNames::default(),
            entries: Vec::new(),
            positions: HashMap::new(),
            definitions: Vec::new(),
            output,
            submission: None,
            limits: limits.clone(),
        })
    }

    /// Fetches the lists that have changed. A source that fails to list its tools again retains its cached list.
    pub(super) async fn refresh(&mut self) -> Result<(), Fault> {
        // Without sources, there is only the submission of an output.
        let mut changed = self.sources.is_empty();
        for source in &mut self.sources {
            match source.fetch(self.limits.call_timeout).await {
                Ok(None) => {}
                Ok(Some((list_version, tools))) => {
                    source.select(list_version, tools)?;
                    changed = true;
                }
                Err(error) if source.list_version.is_some() => {
                    let source = &*source.name;
                    tracing::debug!(source, %error, "failed to refresh the tool list; the cached one is used");
                }
                Err(error) => return Err(Fault::Source(source.name.clone(), Box::new(error))),
            }
        }
        if changed { self.rebuild() } else { Ok(()) }
    }

    fn rebuild(&mut self) -> Result<(), Fault> {
        let prefixed = self.sources.len() > 1;
        let mut wanted: Vec<(ToolKey, String)> = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            let prefix = prefixed.then_some(&*source.name);
            let tools = source.tools.iter();
            wanted.extend(
                tools.map(|it| ((index, it.name.clone()), preferred_name(prefix, &it.name))),
            );
        }
        let max = self.limits.tools;
        if wanted.len() > max {
            let count = wanted.len();
            return Err(Fault::invalid(format!(
                "the sources have {count} tools, the limit is {max}; select tools with `ToolSource::only`"
            )));
        }
        // After the tools of the sources, which retain their names.
        let submission = (self.sources.len(), SUBMIT.to_owned());
        if self.output.is_some() {
            wanted.push((submission.clone(), SUBMIT.to_owned()));
        }
        self.names.assign(&wanted);
        self.entries = self.entries();
        let positions = self.entries.iter().enumerate();
        self.positions = positions.map(|(at, it)| (it.name.clone(), at)).collect();
        let output = self.output.as_ref().zip(self.names.name(&submission));
        self.submission = output.map(|(output, name)| Arc::new(output.tool(name)));
        self.definitions = self.entries.iter().map(definitions).collect();
        self.definitions.extend(self.submission.as_deref().cloned());
        Ok(())
    }

    fn entries(&self) -> Vec<ToolEntry> {
        let mut entries = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            let Some(client) = &source.client else {
                continue;
            };
            for tool in &source.tools {
                let name = self.names.name(&(index, tool.name.clone()));
                entries.extend(name.map(|name| ToolEntry {
                    name: name.to_owned(),
                    source: source.name.clone(),
                    tool: Arc::clone(tool),
                    trust: source.source.trust,
                    client: client.clone(),
                }));
            }
        }
        entries
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.definitions.iter().map(|tool| &*tool.name).collect()
    }

    /// Returns the tool that submits the output, if there is one.
    pub(super) fn submission(&self) -> Option<&Arc<Tool>> {
        self.submission.as_ref()
    }

    /// Returns true if a call is one of the tool that submits the output.
    pub(super) fn is_submission(&self, call: &RequestedCall) -> bool {
        call.source.is_none() && self.submission().is_some_and(|it| it.name == call.name)
    }

    /// Finds a tool of a source by the name that the model sees, or by its own name if only one source has it.
    pub(super) fn find(&self, name: &str) -> Option<&ToolEntry> {
        if self.submission().is_some_and(|tool| tool.name == name) {
            return None;
        }
        if let Some(position) = self.positions.get(name) {
            return self.entries.get(*position);
        }
        let mut with_own_name = self.entries.iter().filter(|entry| entry.tool.name == name);
        with_own_name
            .next()
            .filter(|_| with_own_name.next().is_none())
    }

    /// Finds a tool by its source and its own name.
    pub(super) fn find_in_source(&self, source: &str, tool: &str) -> Option<&ToolEntry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.source == source && entry.tool.name == tool)
    }

    /// Returns the definitions that a tool choice allows.
    pub(super) fn offered(&self, choice: &ToolChoice) -> Result<Vec<Tool>, Fault> {
        let submission = || self.submission.as_deref().cloned().into_iter().collect();
        match choice {
            ToolChoice::None if self.submission.is_some() => Ok(submission()),
            ToolChoice::Tool(name) if self.submission().is_some_and(|it| it.name == *name) => {
                Ok(submission())
            }
            ToolChoice::Tool(name) => {
                let entry = self.find(name);
                let entry = entry.ok_or_else(|| {
                    Fault::invalid(format!("unknown tool `{name}` in the tool choice"))
                })?;
                Ok(vec![definitions(entry)])
            }
            ToolChoice::Required if self.definitions.is_empty() => Err(Fault::invalid(
                "the tool choice requires a call, but there are no tools",
            )),
            _ => Ok(self.definitions.clone()),
        }
    }
}

impl SourceTools {
    /// Fetches the list if it has changed since the last fetch; returns it with its version. Each change of a known list has one
    /// attempt of at most `limit`, because each model request waits for it.
    async fn fetch(
        &mut self,
        limit: Duration,
    ) -> Result<Option<(u64, Vec<Arc<Tool>>)>, ClientError> {
        let client = match &self.client {
            Some(client) => client.clone(),
            None => self.source.client().await?,
        };
        // A change that arrives during the fetch is noticed at the next refresh.
        let list_version = internal::tools_version(&client);
        if self.list_version == Some(list_version) {
            return Ok(None);
        }
        let tools = match &mut self.list_version {
            Some(known) => {
                *known = list_version;
                timeout(limit, client.tools()).await??
            }
            None => client.tools().await?,
        };
        self.client = Some(client);
        Ok(Some((list_version, tools)))
    }

    /// Selects the tools that the model sees. A source that has none of the requested tools at the first fetch is an error,
    /// because the model would be without tools, and the cause would be hard to find.
    fn select(&mut self, list_version: u64, mut tools: Vec<Arc<Tool>>) -> Result<(), Fault> {
        tools.retain(|tool| is_for_model(tool));
        let missing = self.source.missing(&tools);
        tools.retain(|tool| self.source.offers(&tool.name));
        let name = quoted(&self.name);
        if tools.is_empty() && !missing.is_empty() && self.list_version.is_none() {
            let missing = missing.join(", ");
            let reason =
                format!("`ToolSource::only` leaves no tools of the source {name}: {missing}");
            return Err(Fault::invalid(reason));
        }
        for missing in missing {
            tracing::warn!("`ToolSource::only` of the source {name}: {missing}");
        }
        self.tools = tools;
        self.list_version = Some(list_version);
        Ok(())
    }
}

/// Returns false for tools that are for the views of MCP Apps only: their visibility does not include the model.
fn is_for_model(tool: &Tool) -> bool {
    let ui = tool.meta.as_ref().and_then(|meta| meta.get("ui"));
    match ui.and_then(|ui| ui.get("visibility")) {
        Some(Value::Array(visibility)) => visibility.iter().any(|it| it == "model"),
        _ => true,
    }
}

/// Definition for a model: only name, description and input schema, because the rest costs tokens.
fn definitions(entry: &ToolEntry) -> Tool {
    let mut definitions = Tool::new(entry.name.clone(), entry.tool.input_schema.clone());
    definitions.description.clone_from(&entry.tool.description);
    definitions
}
