//! The servers whose tools the model has.

use clap::Args;
use treenail::agent::ToolSource;

use super::Chat;
use crate::args::{HeaderArgs, ServerArgs, TargetArgs};
use crate::ask::SharedLines;
use crate::exit::Failure;
use crate::screen::Screen;
use crate::server::{Connected, Purpose};

/// The servers, and how they are treated.
#[derive(Debug, Args)]
#[command(next_help_heading = "Servers")]
pub(super) struct ServersArgs {
    /// A server with a name of your own: the command that starts it, quoted as in a shell, or its URL; can be repeated
    #[arg(short = 's', long = "server", value_name = "NAME=COMMAND|URL")]
    named: Vec<String>,

    /// A header for a server over HTTP, with its value taken from a variable of the environment
    #[arg(long = "header-env", value_name = "SERVER:HEADER=VARIABLE")]
    headers: Vec<String>,

    /// Do not believe what this server says of its tools: each call asks; can be repeated
    #[arg(long, value_name = "SERVER")]
    untrusted: Vec<String>,
}

/// Servers that are connected to.
#[derive(Debug)]
pub(super) struct Servers {
    all: Vec<(String, Connected)>,
    untrusted: Vec<String>,
}

impl Servers {
    /// Connects to all of them, one after the other; if that fails for one, the others are ended.
    pub(super) async fn open(
        chat: &Chat,
        named: Vec<(String, String)>,
        screen: &Screen,
        lines: &SharedLines,
    ) -> Result<Self, Failure> {
        let mut servers = Self {
            all: Vec::new(),
            untrusted: chat.servers.untrusted.clone(),
        };
        for (name, target) in named {
            let args = chat.server_args(&name, target);
            let opening = Connected::open(&args, screen, lines, Purpose::Conversation);
            match Box::pin(opening).await {
                Ok(connected) => servers.all.push((name, connected)),
                Err(failure) => {
                    servers.close().await;
                    return Err(failure.note(format!("it is the server `{name}`")));
                }
            }
        }
        Ok(servers)
    }

    /// Where tools come from, by the names of the servers.
    pub(super) fn sources(&self) -> impl Iterator<Item = (&str, ToolSource)> {
        self.all.iter().map(|(name, connected)| {
            let source = ToolSource::from(&connected.client);
            let source = if self.believes(name) {
                source
            } else {
                source.untrusted()
            };
            (name.as_str(), source)
        })
    }

    /// Whether what this server says of its tools is believed.
    pub(super) fn believes(&self, server: &str) -> bool {
        !self.untrusted.iter().any(|name| name == server)
    }

    /// The servers that have a tool of this name now.
    pub(super) async fn with_tool(&self, tool: &str) -> Result<Vec<&str>, Failure> {
        let mut found = Vec::new();
        for (name, connected) in &self.all {
            // The lists are kept, so it is asked for once.
            let tools = Box::pin(connected.bounded(connected.client.tools())).await;
            let tools = tools.map_err(|it| it.note(format!("it is the server `{name}`")))?;
            if tools.iter().any(|it| it.name == tool) {
                found.push(name.as_str());
            }
        }
        Ok(found)
    }

    pub(super) async fn close(&self) {
        for (_, connected) in &self.all {
            connected.close().await;
        }
    }
}

impl ServersArgs {
    /// The names and what they stand for.
    pub(super) fn parse(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut named: Vec<(String, String)> = Vec::new();
        for given in &self.named {
            let (name, target) = given.split_once('=').unwrap_or_default();
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if name.is_empty() || !name.chars().all(is_name) || target.trim().is_empty() {
                return Err(Failure::usage(format!(
                    "--server `{given}` is not like `name=command` or `name=https://…`; a name has letters, digits, `_` and `-`"
                )));
            }
            if named.iter().any(|(known, _)| known == name) {
                let why = format!("there are two servers with the name `{name}`");
                return Err(Failure::usage(why));
            }
            named.push((name.to_owned(), target.trim().to_owned()));
        }
        let of_headers = self.headers.iter().map(|header| server_of(header));
        let of_headers = of_headers.collect::<Result<Vec<_>, _>>()?;
        for name in of_headers
            .into_iter()
            .chain(self.untrusted.iter().map(String::as_str))
        {
            if !named.iter().any(|(known, _)| known == name) {
                return Err(Failure::usage(format!("there is no server `{name}`")));
            }
        }
        Ok(named)
    }
}

/// The server that a header is for.
fn server_of(header: &str) -> Result<&str, Failure> {
    let (server, _) = header.split_once(':').ok_or_else(|| {
        Failure::usage(format!(
            "--header-env `{header}` is not like `server:Name=VARIABLE`"
        ))
    })?;
    Ok(server)
}

impl Chat {
    /// What the other commands are told of a server.
    fn server_args(&self, name: &str, target: String) -> ServerArgs {
        let is_url = target.starts_with("http://") || target.starts_with("https://");
        let (url, command) = if is_url {
            (Some(target), None)
        } else {
            (None, Some(target))
        };
        let headers = self.servers.headers.iter().filter_map(|header| {
            let (server, header) = header.split_once(':')?;
            (server == name).then(|| header.to_owned())
        });
        ServerArgs {
            target: TargetArgs {
                command,
                url,
                program: Vec::new(),
            },
            headers: HeaderArgs {
                plain: Vec::new(),
                from_env: headers.collect(),
            },
            protocol_version: None,
            timeout: self.timeout,
            roots: self.roots.clone(),
            answers: self.answers.clone(),
            output: self.output,
        }
    }
}
