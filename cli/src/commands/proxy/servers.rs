//! Servers behind the proxy.

use std::path::{Path, PathBuf};

use treenail::McpClient;
use treenail::client::McpClientBuilder;
use treenail::schema::Revision;

use crate::args::{AuthArgs, OutputArgs, ServerArgs, TraceTarget};
use crate::exit::Failure;
use crate::hosts::{EntryTls, ServerEntry, read_servers};
use crate::server::{MessageArgs, StderrTail, TlsArgs, proxied_client};
use crate::terminal::Terminal;

/// Server behind the proxy, and the options that concern it.
#[derive(Debug)]
pub(super) struct BehindProxy {
    pub(super) name: String,
    pub(super) entry: ServerEntry,
    pub(super) protocol_version: Option<Revision>,
    pub(super) messages: MessageArgs,
    pub(super) log: Option<TraceTarget>,
    pub(super) auth: AuthArgs,
    /// Certificate authorities that all servers may have.
    pub(super) authorities: Vec<PathBuf>,
    pub(super) output: OutputArgs,
    pub(super) terminal: Terminal,
    /// Standard error of the server, in all its connections.
    pub(super) tail: StderrTail,
}

impl BehindProxy {
    /// Returns the builder of a client for one connection.
    pub(super) fn builder(&self) -> Result<McpClientBuilder, Failure> {
        let (args, directory) = self.args();
        proxied_client(&args, directory.as_deref(), (&self.terminal, &self.tail))
    }

    /// Returns the builder, or one that cannot connect after an error.
    pub(super) fn builder_or_none(&self) -> McpClientBuilder {
        self.builder().unwrap_or_else(|failure| {
            let (name, why) = (&self.name, failure.message());
            self.terminal.print_note(&format!("server `{name}`: {why}"));
            McpClient::builder()
        })
    }

    /// Returns the options for the server as those of a command with one server, and its working directory.
    fn args(&self) -> (ServerArgs, Option<PathBuf>) {
        let mut args = ServerArgs::of_url("", self.output);
        args.target.url = None;
        args.auth = self.auth.clone();
        args.protocol_version = self.protocol_version;
        args.messages = self.messages;
        args.trace.target.clone_from(&self.log);
        args.trace.label = Some(self.name.clone());
        match &self.entry {
            ServerEntry::Program {
                command,
                args: arguments,
                env,
                cwd,
            } => {
                let words = std::iter::once(command).chain(arguments);
                args.target.program = words.map(Into::into).collect();
                let pair = |(name, value): &(String, String)| format!("{name}={value}");
                args.environment.set = env.iter().map(pair).collect();
                (args, cwd.as_ref().map(PathBuf::from))
            }
            ServerEntry::Url { url, headers, tls } => {
                args.tls = self.tls(tls);
                args.target.url = Some(url.clone());
                let header = |(name, value): &(String, String)| format!("{name}: {value}");
                args.headers.plain = headers.iter().map(header).collect();
                (args, None)
            }
        }
    }

    fn tls(&self, entry: &EntryTls) -> TlsArgs {
        let path = |file: &Option<String>| file.as_ref().map(PathBuf::from);
        let mut authorities = self.authorities.clone();
        authorities.extend(path(&entry.authority));
        TlsArgs {
            authorities,
            certificate: path(&entry.certificate),
            key: path(&entry.key),
            #[cfg(unix)]
            unix_socket: path(&entry.unix_socket),
        }
    }
}

/// Parses a value of `--server`.
pub(super) fn named(given: &str) -> Result<(String, ServerEntry), Failure> {
    let invalid =
        |why: &str| Failure::usage(format!("invalid value `{given}` for --server: {why}"));
    let (name, target) = given.split_once('=').unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(is_name) || target.trim().is_empty() {
        return Err(invalid(
            "expected `name=command` or `name=https://…`; a name consists of letters, digits, `_` and `-`",
        ));
    }
    let target = target.trim();
    if target.starts_with("http://") || target.starts_with("https://") {
        let entry = ServerEntry::Url {
            url: target.to_owned(),
            headers: Vec::new(),
            tls: EntryTls::default(),
        };
        return Ok((name.to_owned(), entry));
    }
    let words = shlex::split(target).ok_or_else(|| invalid("an unterminated quote"))?;
    let mut words = words.into_iter();
    let command = words
        .next()
        .ok_or_else(|| invalid("the command is empty"))?;
    let entry = ServerEntry::Program {
        command,
        args: words.collect(),
        env: Vec::new(),
        cwd: None,
    };
    Ok((name.to_owned(), entry))
}

/// Returns the start of the names of a server.
pub(super) fn prefix_of(namespace: &str) -> String {
    match namespace {
        "" => String::new(),
        namespace => format!("{namespace}."),
    }
}

/// Reads the servers of a configuration file. Characters that names of tools must not have become `_`.
pub(super) fn configured(
    file: &Path,
    terminal: &Terminal,
) -> Result<Vec<(String, ServerEntry)>, Failure> {
    let legal = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    };
    let servers = read_servers(file)?;
    for server in servers.iter().filter(|server| server.has_env_file) {
        let name = &server.name;
        terminal.print_note(&format!(
            "server `{name}`: `envFile` is not read; its variables have to be in `env`"
        ));
    }
    Ok(servers
        .into_iter()
        .map(|server| (server.name.chars().map(legal).collect(), server.entry))
        .collect())
}
