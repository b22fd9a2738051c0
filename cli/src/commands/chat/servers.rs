//! The servers whose tools the model has.

use clap::Args;
use treenail::agent::ToolSource;

use super::Chat;
use crate::args::{EnvArgs, HeaderArgs, ServerArgs, TargetArgs};
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

    /// A variable for a server that is started: NAME for its value here, or NAME=VALUE, which others on this computer can see;
    /// can be repeated. Without it, a server has HOME, LOGNAME, PATH, SHELL, TERM and USER only
    #[arg(long = "env", value_name = "SERVER:NAME[=VALUE]")]
    variables: Vec<String>,

    /// Give this server the whole environment, secrets included, but for those that are given to this program: the variables
    /// of --key-env and --header-env, and `OPENAI_API_KEY`; can be repeated
    #[arg(long = "inherit-env", value_name = "SERVER")]
    inherits: Vec<String>,

    /// Believe what this server says of its tools: those that only read run without asking; can be repeated
    ///
    /// Without it each call asks, because a server can say of any tool that it is harmless.
    #[arg(long, value_name = "SERVER")]
    trust: Vec<String>,
}

/// Servers that are connected to.
#[derive(Debug)]
pub(super) struct Servers {
    all: Vec<(String, Connected)>,
    trusted: Vec<String>,
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
            trusted: chat.servers.trust.clone(),
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
            let source = if self.trusts(name) {
                source
            } else {
                source.untrusted()
            };
            (name.as_str(), source)
        })
    }

    /// Reports that what this server says of its tools is believed.
    pub(super) fn trusts(&self, server: &str) -> bool {
        self.trusted.iter().any(|name| name == server)
    }

    /// Reports that the bare name of a tool may mean one of this server: no other server could have been meant, or this one
    /// is trusted.
    pub(super) fn is_meant_by_tools(&self, server: &str) -> bool {
        self.all.len() == 1 || self.trusts(server)
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
        let mut mentioned = Vec::new();
        for header in &self.headers {
            mentioned.push(server_of("--header-env", header, "server:Name=VARIABLE")?);
        }
        for variable in &self.variables {
            mentioned.push(server_of("--env", variable, "server:NAME[=VALUE]")?);
        }
        for name in mentioned
            .into_iter()
            .chain(self.inherits.iter().map(String::as_str))
            .chain(self.trust.iter().map(String::as_str))
        {
            if !named.iter().any(|(known, _)| known == name) {
                return Err(Failure::usage(format!("there is no server `{name}`")));
            }
        }
        Ok(named)
    }
}

/// The server that an option with `server:` at its front is for.
fn server_of<'a>(option: &str, given: &'a str, form: &str) -> Result<&'a str, Failure> {
    let (server, _) = given
        .split_once(':')
        .ok_or_else(|| Failure::usage(format!("{option} `{given}` is not like `{form}`")))?;
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
        let for_this = |given: &[String]| -> Vec<String> {
            let of_server = |given: &String| {
                let (server, rest) = given.split_once(':')?;
                (server == name).then(|| rest.to_owned())
            };
            given.iter().filter_map(of_server).collect()
        };
        let of_headers = self.servers.headers.iter();
        let secrets = of_headers
            .filter_map(|header| header.split_once('=').map(|(_, variable)| variable))
            .chain(self.model.key_variables());
        ServerArgs {
            target: TargetArgs {
                command,
                url,
                program: Vec::new(),
            },
            headers: HeaderArgs {
                plain: Vec::new(),
                from_env: for_this(&self.servers.headers),
            },
            environment: EnvArgs {
                set: for_this(&self.servers.variables),
                inherit: self.servers.inherits.iter().any(|server| server == name),
                secrets: secrets.map(str::to_owned).collect(),
            },
            protocol_version: None,
            timeout: self.timeout,
            probe: self.probe,
            roots: self.roots.clone(),
            answers: self.answers.clone(),
            output: self.output,
        }
    }
}
