//! One server in the configuration of a host.

use serde_json::{Map, Value, json};

use super::Host;

/// Server to start, or to connect to.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum ServerEntry {
    Program {
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
        /// Working directory, if the file has one.
        cwd: Option<String>,
    },
    Url {
        url: String,
        headers: Vec<(String, String)>,
        tls: EntryTls,
    },
}

/// Files of the connection to a server over HTTP, which no host but `treenail proxy` knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryTls {
    pub(crate) authority: Option<String>,
    pub(crate) certificate: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) unix_socket: Option<String>,
}

impl EntryTls {
    fn from_entry(entry: &Map<String, Value>) -> Result<Self, String> {
        let none = Map::new();
        let tls = match entry.get("tls") {
            None | Some(Value::Null) => &none,
            Some(Value::Object(tls)) => tls,
            Some(_) => return Err("`tls`: expected an object".to_owned()),
        };
        let socket = string(entry, "unixSocket")?;
        if socket.is_some() && cfg!(not(unix)) {
            return Err("`unixSocket`: this system has no Unix sockets".to_owned());
        }
        let files = Self::files(tls).map_err(|error| format!("`tls`: {error}"))?;
        Ok(Self {
            unix_socket: socket,
            ..files
        })
    }

    fn files(tls: &Map<String, Value>) -> Result<Self, String> {
        const MEMBERS: [&str; 3] = ["caCert", "clientCert", "clientKey"];
        let mut names = tls.keys();
        if let Some(unknown) = names.find(|name| !MEMBERS.contains(&name.as_str())) {
            return Err(format!("unknown member `{unknown}`"));
        }
        let [authority, certificate, key] = MEMBERS.map(|name| string(tls, name));
        let files = Self {
            authority: authority?,
            certificate: certificate?,
            key: key?,
            unix_socket: None,
        };
        if files.key.is_some() && files.certificate.is_none() {
            return Err("`clientKey` needs `clientCert`".to_owned());
        }
        Ok(files)
    }
}

/// Values of variables and headers may be secrets.
impl std::fmt::Debug for ServerEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Program { command, .. } => f.debug_tuple("Program").field(command).finish(),
            Self::Url { url, .. } => f.debug_tuple("Url").field(url).finish(),
        }
    }
}

impl ServerEntry {
    /// Returns the entry in the format of a host, or an error if the host has none for it.
    pub(crate) fn to_value(&self, host: Host) -> Result<Value, String> {
        let has_type = matches!(host, Host::ClaudeCode | Host::Vscode);
        let mut entry = Map::new();
        let kind = match self {
            Self::Program { .. } => "stdio",
            Self::Url { .. } => "http",
        };
        if has_type {
            entry.insert("type".to_owned(), kind.into());
        }
        match self {
            Self::Program {
                command, args, env, ..
            } => {
                entry.insert("command".to_owned(), json!(command));
                entry.insert("args".to_owned(), json!(args));
                insert_strings(&mut entry, "env", env);
            }
            Self::Url { .. } if host == Host::ClaudeDesktop => {
                return Err(
                    "Claude Desktop has no servers with a URL in its file; add it in Settings → Connectors"
                        .to_owned(),
                );
            }
            Self::Url { url, headers, .. } => {
                let key = if host == Host::Windsurf {
                    "serverUrl"
                } else {
                    "url"
                };
                entry.insert(key.to_owned(), json!(url));
                insert_strings(&mut entry, "headers", headers);
            }
        }
        Ok(Value::Object(entry))
    }

    /// Reads an entry in the format of any host. The error names the field.
    pub(crate) fn from_value(value: &Value) -> Result<Self, String> {
        let entry = value.as_object().ok_or("expected an object")?;
        // Early versions of Zed had an object as command.
        let nested = entry.get("command").and_then(Value::as_object);
        let fields = nested.unwrap_or(entry);
        let command = if nested.is_some() { "path" } else { "command" };
        if let Some(command) = string(fields, command)? {
            return Ok(Self::Program {
                command,
                args: list(fields, "args")?,
                env: strings(fields, "env")?,
                cwd: string(fields, "cwd")?,
            });
        }
        for key in ["url", "serverUrl", "httpUrl"] {
            if let Some(url) = string(entry, key)? {
                let headers = strings(entry, "headers")?;
                let tls = EntryTls::from_entry(entry)?;
                return Ok(Self::Url { url, headers, tls });
            }
        }
        Err("expected `command` or `url`".to_owned())
    }
}

fn insert_strings(entry: &mut Map<String, Value>, name: &str, values: &[(String, String)]) {
    if values.is_empty() {
        return;
    }
    let values = values
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)));
    entry.insert(name.to_owned(), Value::Object(values.collect()));
}

fn string(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{name}`: expected a string")),
    }
}

fn list(fields: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    let expected = || format!("`{name}`: expected a list of strings");
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(expected))
            .collect(),
        Some(_) => Err(expected()),
    }
}

fn strings(fields: &Map<String, Value>, name: &str) -> Result<Vec<(String, String)>, String> {
    let expected = || format!("`{name}`: expected an object with strings");
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(values)) => values
            .iter()
            // A host removes such a variable from the environment.
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| {
                let value = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    _ => return Err(expected()),
                };
                Ok((name.clone(), value))
            })
            .collect(),
        Some(_) => Err(expected()),
    }
}
