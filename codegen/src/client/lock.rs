//! Parser of lock files.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The supported version of lock files.
const VERSION: u64 = 1;

/// Maximum number of characters of a name in an error message.
const MAX_NAME_LENGTH: usize = 100;

/// A recorded server.
#[derive(Debug)]
pub(super) struct Lock {
    file: Value,
    pub server: String,
    pub server_version: Option<String>,
    pub tools: Vec<Entry>,
    pub prompts: Vec<Entry>,
    pub templates: Vec<Entry>,
}

/// A tool, a prompt or a template.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: String,
    members: Map<String, Value>,
}

impl Lock {
    /// Retains only these tools in the text, as `Contract::only_tools` would record them. Fails with the first unknown name.
    pub(super) fn keep<'a>(&mut self, names: &'a [String]) -> Result<(), &'a str> {
        let is_there = |name: &String| self.tools.iter().any(|tool| tool.name == *name);
        if let Some(missing) = names.iter().find(|name| !is_there(name)) {
            return Err(missing);
        }
        self.tools.retain(|tool| names.contains(&tool.name));
        let kept = self.tools.iter();
        let tools: Vec<_> = kept.clone().map(|tool| &tool.members).collect();
        let only: Vec<_> = kept.map(|tool| &tool.name).collect();
        let mut file = json!({ "treenailLock": VERSION });
        for member in ["server", "protocolVersion", "clientCapabilities"] {
            if let Some(value) = self.file.get(member) {
                file[member] = value.clone();
            }
        }
        file["only"] = json!(only);
        file["tools"] = json!(tools);
        self.file = file;
        Ok(())
    }

    /// The text of the file without white space.
    pub(super) fn text(&self) -> String {
        self.file.to_string()
    }

    /// Parses a lock file. The error is the predicate of a message.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut value: Value =
            serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
        match value.get("treenailLock") {
            Some(version) if version.as_u64() == Some(VERSION) => {}
            Some(version) => {
                return Err(format!(
                    "has version {version}; only version {VERSION} is supported"
                ));
            }
            None => return Err("is invalid: it has no member `treenailLock`".to_owned()),
        }
        names_are_unique(&value)?;
        if let Some(members) = value.as_object_mut() {
            // Only the client of a trait depends on them. The generated methods of these tools read any result.
            members.shift_remove("undeclaredOutputs");
        }
        let server = value.get("server").unwrap_or(&Value::Null);
        let text_of = |key| server.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            server: text_of("name").unwrap_or_default(),
            server_version: text_of("version"),
            tools: entries(&value, "tools")?,
            prompts: entries(&value, "prompts")?,
            templates: entries(&value, "resourceTemplates")?,
            file: value,
        })
    }
}

/// Rejects duplicate names in a list, since it is not defined which entry applies.
fn names_are_unique(lock: &Value) -> Result<(), String> {
    for (list, key) in [
        ("tools", "name"),
        ("prompts", "name"),
        ("resources", "uri"),
        ("resourceTemplates", "uriTemplate"),
    ] {
        let entries = lock.get(list).and_then(Value::as_array);
        let mut seen = BTreeSet::new();
        let names = entries.into_iter().flatten();
        for name in names.filter_map(|entry| entry.get(key)?.as_str()) {
            if !seen.insert(name) {
                let name: String = name.chars().take(MAX_NAME_LENGTH).collect();
                return Err(format!("contains {name:?} twice in `{list}`"));
            }
        }
    }
    Ok(())
}

/// The entries of a list, sorted by name.
fn entries(lock: &Value, list: &str) -> Result<Vec<Entry>, String> {
    let values = match lock.get(list) {
        None => return Ok(Vec::new()),
        Some(Value::Array(values)) => values,
        Some(_) => return Err(format!("is invalid: `{list}` is not an array")),
    };
    let entry = |value: &Value| {
        let members = value.as_object()?.clone();
        let name = members.get("name")?.as_str()?.to_owned();
        Some(Entry { name, members })
    };
    let mut entries = values
        .iter()
        .enumerate()
        .map(|(index, value)| {
            entry(value).ok_or_else(|| format!("is invalid: `{list}[{index}]` has no name"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

impl Entry {
    pub(super) fn get(&self, member: &str) -> Option<&Value> {
        self.members.get(member)
    }

    pub(super) fn text(&self, member: &str) -> Option<&str> {
        self.get(member)?.as_str()
    }
}
