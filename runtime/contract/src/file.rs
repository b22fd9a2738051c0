//! Lock files: contracts as text.
//!
//! A lock file is one indented JSON object. Its entries have the form that the protocol defines:
//!
//! ```json
//! {"treenailLock": 1, "server": {"name": "…", "version": "…"}, "protocolVersion": "…",
//!  "clientCapabilities": [], "instructions": "…", "only": [], "tools": [], "undeclaredOutputs": {}, "prompts": [], "resourceTemplates": [], "resources": []}
//! ```
//!
//! `clientCapabilities` names the capabilities of the recording client; older files lack it. `only` lists the names of the
//! tools if the contract is limited to some of them. `undeclaredOutputs` has the schemas of results that tools do not declare, by
//! the names of the tools; only the contract of a trait has it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use treenail_schema::internal::shortened;
use treenail_schema::{Implementation, Prompt, Resource, ResourceTemplate, SchemaObject, Tool};

use crate::canonical::{Entry, canonical_list};
use crate::escape::escape_invisible_json;
use crate::{Contract, ContractError};

/// Version of the file format.
pub(super) const FORMAT: u64 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContractRef<'a> {
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
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    undeclared_outputs: &'a BTreeMap<String, SchemaObject>,
    prompts: &'a [Prompt],
    resource_templates: &'a [ResourceTemplate],
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<&'a [Resource]>,
}

/// The member that identifies a lock file, with its format.
#[derive(Deserialize)]
struct FormatMember {
    #[serde(rename = "treenailLock")]
    format: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ParsedContract {
    server: Option<Implementation>,
    protocol_version: Option<String>,
    client_capabilities: Option<BTreeSet<String>>,
    instructions: Option<String>,
    only: Option<BTreeSet<String>>,
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default)]
    undeclared_outputs: BTreeMap<String, SchemaObject>,
    #[serde(default)]
    prompts: Vec<Prompt>,
    #[serde(default)]
    resource_templates: Vec<ResourceTemplate>,
    resources: Option<Vec<Resource>>,
}

impl Contract {
    /// Returns the contract as a lock file: indented JSON with a trailing newline. Equal contracts produce equal bytes, so a
    /// file under version control changes only when the server does. Invisible characters are escaped.
    pub fn to_json(&self) -> String {
        let contract = ContractRef {
            treenail_lock: FORMAT,
            server: self.server(),
            protocol_version: self.protocol_version(),
            client_capabilities: self.client_capabilities.as_ref(),
            instructions: self.instructions(),
            only: self.only.as_ref(),
            tools: self.tools(),
            undeclared_outputs: &self.undeclared_outputs,
            prompts: self.prompts(),
            resource_templates: self.resource_templates(),
            resources: self.resources(),
        };
        // Only keys that are not strings could fail, and there are none.
        let mut text = serde_json::to_string_pretty(&contract).unwrap_or_default();
        text.push('\n');
        escape_invisible_json(text)
    }

    /// Parses a lock file. The content is untrusted: it may be written by hand or by a third party. Unknown members are
    /// ignored. If the file has a member `only`, because it was written after [`only_tools`](Self::only_tools), the contract
    /// is limited to these tools.
    ///
    /// # Errors
    ///
    /// [`ContractError`], with the position in the text if there is one. A name in `only` that no tool has is an error too.
    pub fn from_json(text: &str) -> Result<Self, ContractError> {
        let member: FormatMember = parse(text)?;
        match member.format {
            Some(FORMAT) => {}
            Some(other) => return Err(ContractError::UnsupportedFormat(other)),
            None => return Err(ContractError::NotALockFile),
        }
        let parsed: ParsedContract = parse(text)?;
        let mut contract = Self {
            protocol_version: parsed.protocol_version,
            client_capabilities: parsed.client_capabilities,
            instructions: parsed.instructions,
            tools: unique_list("tools", parsed.tools)?,
            prompts: unique_list("prompts", parsed.prompts)?,
            resource_templates: unique_list("resourceTemplates", parsed.resource_templates)?,
            ..Self::default()
        }
        .with_undeclared_outputs(parsed.undeclared_outputs);
        if let Some(resources) = parsed.resources {
            contract.resources = Some(unique_list("resources", resources)?);
        }
        if let Some(server) = parsed.server {
            contract = contract.with_server(server);
        }
        match parsed.only {
            Some(only) => contract.only_tools(only),
            None => Ok(contract),
        }
    }
}

/// Returns the list in canonical form; fails if two entries have the same key.
fn unique_list<T: Entry>(list: &'static str, entries: Vec<T>) -> Result<Vec<T>, ContractError> {
    let mut names: Vec<&str> = entries.iter().map(Entry::key).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let name = pair[0].to_owned();
        return Err(ContractError::DuplicateName { list, name });
    }
    Ok(canonical_list(entries))
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ContractError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        malformed(error.inner(), &path)
    })?;
    json.end().map_err(|error| malformed(&error, ""))?;
    Ok(value)
}

fn malformed(error: &serde_json::Error, path: &str) -> ContractError {
    let reason = error.to_string();
    // The position is reported separately, because the reason may be shortened.
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
