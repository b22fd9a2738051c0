//! What a lock file says.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The version of lock files that is read here.
const VERSION: u64 = 1;

/// Characters of a name in an error.
const LONGEST_NAME: usize = 100;

/// A server, as it was when it was recorded.
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
    /// Keeps these tools, and nothing else in the text: the file that there would be after `Contract::only_tools`. Fails with
    /// the first name that no tool has.
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

    /// The file without its white space.
    pub(super) fn text(&self) -> String {
        self.file.to_string()
    }

    /// Reads a lock file, or says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
        match value.get("treenailLock") {
            Some(version) if version.as_u64() == Some(VERSION) => {}
            Some(version) => {
                return Err(format!(
                    "has version {version}, and {VERSION} is the one that is known here"
                ));
            }
            None => return Err("is not one: it has no member `treenailLock`".to_owned()),
        }
        names_are_unique(&value)?;
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

/// Refuses lists in which something is twice: which of the two would count is not known.
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
                let name: String = name.chars().take(LONGEST_NAME).collect();
                return Err(format!("has {name:?} twice in `{list}`"));
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
        Some(_) => return Err(format!("is not one: its `{list}` are no list")),
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
            entry(value).ok_or_else(|| format!("is not one: `{list}[{index}]` has no name"))
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
