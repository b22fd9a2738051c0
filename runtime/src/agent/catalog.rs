//! The tools of all sources, by the names that the model knows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use treenail_schema::Tool;

use crate::agent::names::{ToolKey, ToolNames, preferred_name};
use crate::agent::report::Fault;
use crate::agent::{ToolChoice, ToolSource, Trust};
use crate::client::{ClientError, McpClient};

/// The tools of all sources, by the names that the model knows.
#[derive(Debug)]
pub(super) struct Catalog {
    sources: Vec<SourceTools>,
    names: ToolNames,
    entries: Vec<ToolEntry>,
    positions: HashMap<String, usize>,
    /// The tools as the model is told of them.
    definitions: Vec<Tool>,
    max: usize,
}

/// A source, and what it has listed.
#[derive(Debug)]
struct SourceTools {
    name: String,
    source: ToolSource,
    client: Option<McpClient>,
    /// How often its server had told of changes when it was listed.
    list_version: Option<u64>,
    tools: Vec<Arc<Tool>>,
}

/// One tool.
#[derive(Clone, Debug)]
pub(super) struct ToolEntry {
    /// The name that the model knows.
    pub(super) name: String,
    pub(super) source: String,
    pub(super) tool: Arc<Tool>,
    pub(super) trust: Trust,
    pub(super) client: McpClient,
}

impl Catalog {
    /// One in which nothing is listed yet.
    pub(super) fn new(sources: &[(String, ToolSource)], max: usize) -> Result<Self, Fault> {
        let mut names = HashSet::new();
        for (name, _) in sources {
            if name.is_empty() {
                return Err(Fault::invalid("a source has no name"));
            }
            if !names.insert(name) {
                return Err(Fault::invalid(format!(
                    "two sources have the name `{name}`"
                )));
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
            max,
        })
    }

    /// Lists the tools of those sources whose lists have changed. A source that cannot list them any more keeps its list.
    pub(super) async fn refresh(&mut self) -> Result<(), Fault> {
        let mut changed = false;
        for source in &mut self.sources {
            match source.refresh().await {
                Ok(differs) => changed |= differs,
                Err(error) if source.list_version.is_some() => {
                    let source = &*source.name;
                    tracing::debug!(source, %error, "the tools that have changed are not known");
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
        if wanted.len() > self.max {
            let (count, max) = (wanted.len(), self.max);
            return Err(Fault::invalid(format!(
                "the sources have {count} tools, where {max} may be offered; choose some of them"
            )));
        }
        self.names.assign(&wanted);
        self.entries = self.entries();
        let positions = self.entries.iter().enumerate();
        self.positions = positions.map(|(at, it)| (it.name.clone(), at)).collect();
        self.definitions = self.entries.iter().map(definitions).collect();
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
        self.entries.iter().map(|entry| &*entry.name).collect()
    }

    /// The tool that a model means: by the name that it knows, or by the tool's own if only one source has it.
    pub(super) fn find(&self, name: &str) -> Option<&ToolEntry> {
        if let Some(position) = self.positions.get(name) {
            return self.entries.get(*position);
        }
        let mut with_own_name = self.entries.iter().filter(|entry| entry.tool.name == name);
        with_own_name
            .next()
            .filter(|_| with_own_name.next().is_none())
    }

    /// The tool of a source, by the name that the source gives it.
    pub(super) fn find_in_source(&self, source: &str, tool: &str) -> Option<&ToolEntry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.source == source && entry.tool.name == tool)
    }

    /// The tools that a choice leaves.
    pub(super) fn offered(&self, choice: &ToolChoice) -> Result<Vec<Tool>, Fault> {
        match choice {
            ToolChoice::Tool(name) => {
                let entry = self.find(name);
                let entry = entry.ok_or_else(|| {
                    Fault::invalid(format!(
                        "the tool `{name}` that is to be called is not there"
                    ))
                })?;
                Ok(vec![definitions(entry)])
            }
            ToolChoice::Required if self.definitions.is_empty() => {
                Err(Fault::invalid("a tool is to be called, and there is none"))
            }
            _ => Ok(self.definitions.clone()),
        }
    }
}

impl SourceTools {
    /// Lists the tools if that has not been done since the last change; whether it was done.
    async fn refresh(&mut self) -> Result<bool, ClientError> {
        let client = match &self.client {
            Some(client) => client.clone(),
            None => self.source.client().await?,
        };
        // A change that is told while the list comes is seen the next time.
        let list_version = client.tools_version();
        if self.list_version == Some(list_version) {
            return Ok(false);
        }
        let tools = client.tools().await?;
        self.tools = tools
            .into_iter()
            .filter(|tool| self.source.offers(&tool.name))
            .collect();
        self.client = Some(client);
        self.list_version = Some(list_version);
        Ok(true)
    }
}

/// What a model needs to know of a tool: the rest costs tokens and helps nobody.
fn definitions(entry: &ToolEntry) -> Tool {
    let mut definitions = Tool::new(entry.name.clone(), entry.tool.input_schema.clone());
    definitions.description.clone_from(&entry.tool.description);
    definitions
}
