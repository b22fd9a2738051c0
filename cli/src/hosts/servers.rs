//! Servers of a configuration file, ready to be used.

use std::path::Path;

use serde_json::Value;

use super::expand::expand;
use super::{Document, EntryTls, ServerEntry};
use crate::exit::{Exit, Failure};
use crate::files::read_file;

/// Members that hold servers, in the order in which they are tried.
const CONTAINERS: [&str; 3] = ["mcpServers", "servers", "context_servers"];

/// Server of a configuration file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConfiguredServer {
    pub(crate) name: String,
    /// The entry, with environment variables expanded.
    pub(crate) entry: ServerEntry,
    /// The entry has a file with variables, which is not read.
    pub(crate) has_env_file: bool,
}

/// Reads the enabled servers of a configuration file of any host, in the order of the file.
///
/// `${NAME}`, `${NAME:-default}` and `${env:NAME}` are replaced by environment variables, which have to be set.
pub(crate) fn read_servers(file: &Path) -> Result<Vec<ConfiguredServer>, Failure> {
    let name = file.display();
    let failure = |message: &str| Failure::new(Exit::Io, format!("`{name}`: {message}"));
    let document = Document::parse(read_file(file)?).map_err(|message| failure(&message))?;
    let mut containers = CONTAINERS.iter();
    let container = containers.find(|container| document.value().contains_key(**container));
    let container = container.ok_or_else(|| {
        failure(
            "there are no servers; expected a member `mcpServers`, `servers` or `context_servers`",
        )
    })?;
    let Value::Object(servers) = &document.value()[*container] else {
        return Err(failure(&format!("`{container}`: expected an object")));
    };
    let enabled = servers.iter().filter(|(_, value)| is_enabled(value));
    enabled
        .map(|(server, value)| {
            let entry = ServerEntry::from_value(value).and_then(expand_entry);
            let entry =
                entry.map_err(|message| failure(&format!("server `{server}`: {message}")))?;
            Ok(ConfiguredServer {
                name: server.clone(),
                entry,
                has_env_file: value.get("envFile").is_some_and(|file| !file.is_null()),
            })
        })
        .collect()
}

/// Returns whether a server is in use: hosts mark the others with `disabled` or `enabled`.
fn is_enabled(value: &Value) -> bool {
    value.get("disabled") != Some(&Value::Bool(true))
        && value.get("enabled") != Some(&Value::Bool(false))
}

fn expand_entry(entry: ServerEntry) -> Result<ServerEntry, String> {
    let pairs = |values: Vec<(String, String)>, field: &str| {
        let expanded = values.into_iter().map(|(name, value)| {
            let value = expand(&value).map_err(|error| format!("`{field}.{name}`: {error}"))?;
            Ok((name, value))
        });
        expanded.collect::<Result<Vec<_>, String>>()
    };
    let one =
        |value: &str, field: &str| expand(value).map_err(|error| format!("`{field}`: {error}"));
    let optional = |value: Option<String>, field| value.map(|value| one(&value, field)).transpose();
    Ok(match entry {
        ServerEntry::Program {
            command,
            args,
            env,
            cwd,
        } => ServerEntry::Program {
            command: one(&command, "command")?,
            args: args
                .iter()
                .map(|arg| one(arg, "args"))
                .collect::<Result<_, _>>()?,
            env: pairs(env, "env")?,
            cwd: optional(cwd, "cwd")?,
        },
        ServerEntry::Url { url, headers, tls } => {
            let url = one(&url, "url")?;
            let has_files = tls.authority.is_some() || tls.certificate.is_some();
            if has_files && url.starts_with("http://") {
                return Err("`tls` needs a `url` with `https`".to_owned());
            }
            let headers = pairs(headers, "headers")?;
            let tls = EntryTls {
                authority: optional(tls.authority, "tls.caCert")?,
                certificate: optional(tls.certificate, "tls.clientCert")?,
                key: optional(tls.key, "tls.clientKey")?,
                unix_socket: optional(tls.unix_socket, "unixSocket")?,
            };
            ServerEntry::Url { url, headers, tls }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(text: &str) -> Result<Vec<ConfiguredServer>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        fs::write(&file, text).unwrap();
        let failure = |failure: Failure| {
            let path = format!("`{}`: ", file.display());
            failure.message().replace(&path, "")
        };
        read_servers(&file).map_err(failure)
    }

    #[test]
    fn servers_of_all_hosts_are_read_in_order() {
        let servers = read(
            r#"{
                // VS Code
                "servers": {
                    "b": {"type": "stdio", "command": "p", "args": ["${MISSING_VARIABLE:-x}"], "env": {"N": 1, "X": null}, "envFile": ".env"},
                    "off": {"command": "q", "disabled": true},
                    "a": {"serverUrl": "https://example.com", "headers": {"H": "v"}},
                    "zed": {"command": {"path": "p", "args": []}},
                },
            }"#,
        )
        .unwrap();
        let names: Vec<_> = servers.iter().map(|server| &*server.name).collect();
        assert_eq!(names, ["b", "a", "zed"]);
        let with_file = servers.iter().map(|server| server.has_env_file);
        assert!(with_file.eq([true, false, false]));
        let program = |args: &[&str], env: &[(&str, &str)]| ServerEntry::Program {
            command: "p".to_owned(),
            args: args.iter().map(|&arg| arg.into()).collect(),
            env: env
                .iter()
                .map(|&(name, value)| (name.into(), value.into()))
                .collect(),
            cwd: None,
        };
        assert_eq!(servers[0].entry, program(&["x"], &[("N", "1")]));
        assert_eq!(servers[2].entry, program(&[], &[]));
        // Values of headers are not in the debug output.
        assert_eq!(
            format!("{:?}", servers[1].entry),
            "Url(\"https://example.com\")"
        );
    }

    #[test]
    fn files_of_a_connection_are_read() {
        let servers = read(
            r#"{"mcpServers": {"a": {
                "url": "https://a.example/mcp",
                "tls": {"caCert": "${MISSING_VARIABLE:-ca.pem}", "clientCert": "c.pem", "clientKey": "c.key"},
                "unixSocket": "a.sock"
            }}}"#,
        );
        let ServerEntry::Url { tls, .. } = servers.unwrap().remove(0).entry else {
            panic!("it has a URL");
        };
        let expected = EntryTls {
            authority: Some("ca.pem".to_owned()),
            certificate: Some("c.pem".to_owned()),
            key: Some("c.key".to_owned()),
            unix_socket: Some("a.sock".to_owned()),
        };
        assert_eq!(tls, expected);
    }

    #[test]
    fn errors_name_the_server_and_the_field() {
        let error =
            |server: &str| read(&format!("{{\"mcpServers\": {{\"s\": {server}}}}}")).unwrap_err();
        assert_eq!(error("{}"), "server `s`: expected `command` or `url`");
        assert_eq!(
            error("{\"command\": 1}"),
            "server `s`: `command`: expected a string"
        );
        for (tls, expected) in [
            (r#"{"caCert": 1}"#, "`caCert`: expected a string"),
            (r#"{"cacert": "a"}"#, "unknown member `cacert`"),
            (r#"{"clientKey": "k"}"#, "`clientKey` needs `clientCert`"),
        ] {
            let server = format!("{{\"url\": \"https://a.example\", \"tls\": {tls}}}");
            assert_eq!(error(&server), format!("server `s`: `tls`: {expected}"));
        }
        let plain = r#"{"url": "${MISSING_VARIABLE:-http://a.example}", "tls": {"caCert": "a"}}"#;
        assert_eq!(error(plain), "server `s`: `tls` needs a `url` with `https`");
        let missing = r#"{"url": "u", "headers": {"A": "${MISSING_VARIABLE}"}}"#;
        let message =
            "server `s`: `headers.A`: the environment variable `MISSING_VARIABLE` is not set";
        assert_eq!(error(missing), message);
        assert!(read("{}").unwrap_err().starts_with("there are no servers"));
    }
}
