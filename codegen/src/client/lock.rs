//! What a lock file says.

use serde_json::{Map, Value};

/// The version of lock files that is read here.
const VERSION: u64 = 1;

/// A server, as it was when it was recorded.
#[derive(Debug)]
pub(super) struct Lock {
    /// The file without its white space.
    pub text: String,
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
        let server = value.get("server").unwrap_or(&Value::Null);
        let text_of = |key| server.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            server: text_of("name").unwrap_or_default(),
            server_version: text_of("version"),
            tools: entries(&value, "tools")?,
            prompts: entries(&value, "prompts")?,
            templates: entries(&value, "resourceTemplates")?,
            text: value.to_string(),
        })
    }
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
