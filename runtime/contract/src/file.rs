//! Lock files: contracts as text.
//!
//! One JSON object, indented, the entries as the protocol has them:
//!
//! ```json
//! {"treenailLock": 1, "server": {"name": "…", "version": "…"}, "protocolVersion": "…",
//!  "clientCapabilities": [], "instructions": "…", "only": [], "tools": [], "prompts": [], "resourceTemplates": [], "resources": []}
//! ```
//!
//! `clientCapabilities` names what the recording client declares; older files do not have it. `only` is there if the contract looks at some tools and at nothing else: their names.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use treenail_schema::internal::shortened;
use treenail_schema::{Implementation, Prompt, Resource, ResourceTemplate, Tool};

use crate::canonical::{Entry, list};
use crate::visible::visible_json;
use crate::{Contract, ContractError};

/// The format that is written and read.
pub(super) const FORMAT: u64 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    treenail_lock: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a Implementation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_capabilities: Option<&'a BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only: Option<&'a BTreeSet<String>>,
    tools: &'a [Tool],
    prompts: &'a [Prompt],
    resource_templates: &'a [ResourceTemplate],
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<&'a [Resource]>,
}

/// What tells that it is a lock file, and which.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "treenailLock")]
    format: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    server: Option<Implementation>,
    protocol_version: Option<String>,
    client_capabilities: Option<BTreeSet<String>>,
    instructions: Option<String>,
    only: Option<BTreeSet<String>>,
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default)]
    prompts: Vec<Prompt>,
    #[serde(default)]
    resource_templates: Vec<ResourceTemplate>,
    resources: Option<Vec<Resource>>,
}

impl Contract {
    /// The contract as a lock file: JSON, indented, with a newline at its end. The same contract gives the same bytes, so
    /// that a file under version control changes when the server does. Characters that nobody would see in it are escaped.
    pub fn to_json(&self) -> String {
        let written = Written {
            treenail_lock: FORMAT,
            server: self.server(),
            protocol_version: self.protocol_version(),
            client_capabilities: self.client_capabilities.as_ref(),
            instructions: self.instructions(),
            only: self.only.as_ref(),
            tools: self.tools(),
            prompts: self.prompts(),
            resource_templates: self.resource_templates(),
            resources: self.resources(),
        };
        // The keys of all objects are texts, and nothing else could fail.
        let mut text = serde_json::to_string_pretty(&written).unwrap_or_default();
        text.push('\n');
        visible_json(text)
    }

    /// Reads a lock file. Nothing in it is trusted: it may have been written by hand, or by somebody else. Members that are
    /// not known are left out. A file that was written after [`only_tools`](Self::only_tools), as its member `only` tells,
    /// gives a contract of these tools again.
    ///
    /// # Errors
    ///
    /// [`ContractError`], with the place in the text where there is one. A name in `only` that no tool has is one too.
    pub fn from_json(text: &str) -> Result<Self, ContractError> {
        let head: Head = read(text)?;
        match head.format {
            Some(FORMAT) => {}
            Some(other) => return Err(ContractError::Format(other)),
            None => return Err(ContractError::NoLockFile),
        }
        let read: Read = read(text)?;
        let mut contract = Self {
            protocol_version: read.protocol_version,
            client_capabilities: read.client_capabilities,
            instructions: read.instructions,
            tools: once("tools", read.tools)?,
            prompts: once("prompts", read.prompts)?,
            resource_templates: once("resourceTemplates", read.resource_templates)?,
            ..Self::default()
        };
        if let Some(resources) = read.resources {
            contract.resources = Some(once("resources", resources)?);
        }
        if let Some(server) = read.server {
            contract = contract.with_server(server);
        }
        match read.only {
            Some(only) => contract.only_tools(only),
            None => Ok(contract),
        }
    }
}

/// A list in which no name may stand twice.
fn once<T: Entry>(kind: &'static str, entries: Vec<T>) -> Result<Vec<T>, ContractError> {
    let mut names: Vec<&str> = entries.iter().map(Entry::key).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let name = pair[0].to_owned();
        return Err(ContractError::Twice { kind, name });
    }
    Ok(list(entries))
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ContractError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        malformed(error.inner(), &path)
    })?;
    json.end().map_err(|error| malformed(&error, ""))?;
    Ok(read)
}

fn malformed(error: &serde_json::Error, path: &str) -> ContractError {
    let reason = error.to_string();
    // The place is told apart from the reason, which may be cut.
    let reason = match reason.rsplit_once(" at line ") {
        Some((reason, _)) => reason,
        None => &reason,
    };
    ContractError::Malformed {
        line: error.line(),
        column: error.column(),
        path: if matches!(path, "." | "?") { "" } else { path }.to_owned(),
        reason: shortened(reason),
    }
}
