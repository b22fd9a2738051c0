//! Servers whose tools the model can call.

use std::path::PathBuf;

use clap::Args;
use treenail::agent::ToolSource;

use super::Chat;
use crate::args::{AuthArgs, EnvArgs, HeaderArgs, ServerArgs, TargetArgs, TraceArgs};
use crate::elicit::SharedLineReader;
use crate::exit::Failure;
use crate::server::{Connection, ConnectionMode, TlsArgs};
use crate::terminal::Terminal;

/// Options for the servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Servers")]
pub(super) struct ServersArgs {
    /// Server with a name of your choice: the command to start it, quoted as in a shell, or its URL; can be repeated
    #[arg(short = 's', long = "server", value_name = "NAME=COMMAND|URL")]
    named: Vec<String>,

    /// Header for a server over HTTP, with its value from an environment variable
    #[arg(long = "header-env", value_name = "SERVER:HEADER=VARIABLE")]
    headers: Vec<String>,

    /// Trust the certificate authorities in this PEM file, beside those of the system, also for the endpoint of the model; can be
    /// repeated
    #[arg(long = "ca-cert", value_name = "FILE")]
    pub(super) authorities: Vec<PathBuf>,

    /// Pass an environment variable to a server process: NAME for the current value, or NAME=VALUE, which is visible to
    /// other users of this machine; can be repeated. By default, only HOME, LOGNAME, PATH, SHELL, TERM and USER are passed
    #[arg(long = "env", value_name = "SERVER:NAME[=VALUE]")]
    variables: Vec<String>,

    /// Pass the whole environment to this server, including secrets, except for the variables of --key-env and --header-env
    /// and `OPENAI_API_KEY`; can be repeated
    #[arg(long = "inherit-env", value_name = "SERVER")]
    inherit_env: Vec<String>,

    /// Trust the tool annotations of this server, so that read-only tools run without approval; can be repeated
    ///
    /// By default, each call requires approval, because a server can declare any tool as harmless.
    #[arg(long, value_name = "SERVER")]
    trust: Vec<String>,
}

/// Connected servers.
#[derive(Debug)]
pub(super) struct Servers {
    all: Vec<(String, Connection)>,
    trusted: Vec<String>,
}

impl Servers {
    /// Connects to all servers in sequence. If one fails, the others are closed.
    pub(super) async fn open(
        chat: &Chat,
        named: Vec<(String, String)>,
        terminal: &Terminal,
        line_reader: &SharedLineReader,
    ) -> Result<Self, Failure> {
        let mut servers = Self {
            all: Vec::new(),
            trusted: chat.servers.trust.clone(),
        };
        for (name, target) in named {
            let args = chat.server_args(&name, target);
            let opening =
                Connection::open(&args, terminal, line_reader, ConnectionMode::Conversation);
            match Box::pin(opening).await {
                Ok(connection) => servers.all.push((name, connection)),
                Err(failure) => {
                    servers.close().await;
                    return Err(failure.note(format!("the server is `{name}`")));
                }
            }
        }
        Ok(servers)
    }

    /// Returns the tool sources and the names of their servers.
    pub(super) fn tool_sources(&self) -> impl Iterator<Item = (&str, ToolSource)> {
        self.all.iter().map(|(name, connection)| {
            let source = ToolSource::from(&connection.client);
            let source = if self.trusts(name) {
                source
            } else {
                source.untrusted()
            };
            (name.as_str(), source)
        })
    }

    /// Returns whether the tool annotations of this server are trusted.
    pub(super) fn trusts(&self, server: &str) -> bool {
        self.trusted.iter().any(|name| name == server)
    }

    /// Returns whether a tool name without a server may select a tool of this server: it is the only server, or it is
    /// trusted.
    pub(super) fn matches_bare_tool_names(&self, server: &str) -> bool {
        self.all.len() == 1 || self.trusts(server)
    }

    /// Returns the names of the servers that currently have a tool of this name.
    pub(super) async fn names_with_tool(&self, tool: &str) -> Result<Vec<&str>, Failure> {
        let mut found = Vec::new();
        for (name, connection) in &self.all {
            // The client caches the list, so it is requested once.
            let tools = Box::pin(connection.with_timeout(connection.client.tools())).await;
            let tools = tools.map_err(|it| it.note(format!("the server is `{name}`")))?;
            if tools.iter().any(|it| it.name == tool) {
                found.push(name.as_str());
            }
        }
        Ok(found)
    }

    pub(super) async fn close(&self) {
        for (_, connection) in &self.all {
            connection.close().await;
        }
    }
}

impl ServersArgs {
    /// Parses the pairs of name and target, and checks all references to the names.
    pub(super) fn parse(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut named: Vec<(String, String)> = Vec::new();
        for given in &self.named {
            let (name, target) = given.split_once('=').unwrap_or_default();
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if name.is_empty() || !name.chars().all(is_name) || target.trim().is_empty() {
                return Err(Failure::usage(format!(
                    "invalid value `{given}` for --server: expected `name=command` or `name=https://…`; a name consists of letters, digits, `_` and `-`"
                )));
            }
            if named.iter().any(|(known, _)| known == name) {
                let why = format!("duplicate server name `{name}`");
                return Err(Failure::usage(why));
            }
            named.push((name.to_owned(), target.trim().to_owned()));
        }
        let mut mentioned = Vec::new();
        for header in &self.headers {
            mentioned.push(server_name_of(
                "--header-env",
                header,
                "server:Name=VARIABLE",
            )?);
        }
        for variable in &self.variables {
            mentioned.push(server_name_of("--env", variable, "server:NAME[=VALUE]")?);
        }
        for name in mentioned
            .into_iter()
            .chain(self.inherit_env.iter().map(String::as_str))
            .chain(self.trust.iter().map(String::as_str))
        {
            if !named.iter().any(|(known, _)| known == name) {
                return Err(Failure::usage(format!("unknown server `{name}`")));
            }
        }
        Ok(named)
    }
}

/// Returns the server name before the colon in the value of an option.
fn server_name_of<'a>(option: &str, given: &'a str, form: &str) -> Result<&'a str, Failure> {
    let (server, _) = given.split_once(':').ok_or_else(|| {
        Failure::usage(format!(
            "invalid value `{given}` for {option}: expected `{form}`"
        ))
    })?;
    Ok(server)
}

impl Chat {
    /// Returns the options for one server, as the other subcommands take them.
    fn server_args(&self, name: &str, target: String) -> ServerArgs {
        let is_url = target.starts_with("http://") || target.starts_with("https://");
        let authorities = if is_url {
            self.servers.authorities.clone()
        } else {
            Vec::new()
        };
        let (url, command) = if is_url {
            (Some(target), None)
        } else {
            (None, Some(target))
        };
        ServerArgs {
            target: TargetArgs {
                command,
                url,
                program: Vec::new(),
            },
            headers: HeaderArgs {
                plain: Vec::new(),
                from_env: values_for(name, &self.servers.headers),
            },
            auth: AuthArgs::default(),
            tls: TlsArgs {
                authorities,
                ..TlsArgs::default()
            },
            sign_in: None,
            // A call waits for its task, and some tools run as tasks only.
            tasks: true,
            environment: EnvArgs {
                set: values_for(name, &self.servers.variables),
                inherit: self.servers.inherit_env.iter().any(|server| server == name),
                secrets: self.secret_variables(),
            },
            protocol_version: None,
            timeout: self.timeout,
            probe: self.probe,
            messages: self.messages,
            roots: self.roots.clone(),
            answers: self.answers.clone(),
            output: self.output,
            trace: TraceArgs {
                target: self.trace.target.clone(),
                label: Some(name.to_owned()),
            },
        }
    }

    /// Returns the environment variables for headers of servers, and for keys of the model.
    fn secret_variables(&self) -> Vec<String> {
        let headers = self.servers.headers.iter();
        headers
            .filter_map(|header| header.split_once('=').map(|(_, variable)| variable))
            .chain(self.model.key_variables())
            .map(str::to_owned)
            .collect()
    }
}

/// Returns the values that are given for one server, without its name.
fn values_for(name: &str, given: &[String]) -> Vec<String> {
    let of_server = |given: &String| {
        let (server, rest) = given.split_once(':')?;
        (server == name).then(|| rest.to_owned())
    };
    given.iter().filter_map(of_server).collect()
}
