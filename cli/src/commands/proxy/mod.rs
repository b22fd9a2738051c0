//! `treenail proxy`.

mod nesting;
mod pattern;
mod renames;
mod report;
mod servers;
mod warnings;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use treenail::Server;
use treenail::http::{HttpServer, ServeHttp as _};
use treenail::proxy::{Proxy as Gateway, Remote};
use treenail::schema::Revision;
use treenail::tasks::{Tasks, ToolTask};

use self::nesting::nested_files;
use self::pattern::Patterns;
use self::renames::Renames;
use self::report::report;
use self::servers::{BehindProxy, configured, named, prefix_of};
use self::warnings::print_warnings;
use crate::args::{
    AuthArgs, OutputArgs, TraceTarget, Verbosity, parse_duration, parse_trace_target,
};
use crate::exit::{Exit, Failure};
use crate::hosts::{EntryTls, ServerEntry};
use crate::server::{MessageArgs, StderrTail, describe_url};
use crate::signals::{interrupted, terminated};
use crate::terminal::Terminal;

/// Serve several servers as one, over stdio or HTTP
///
/// The names of the tools, prompts and resources of a server start with its name and a dot. Those of the server after `--` or of
/// `--url` have no such prefix. A server that is not available is connected as soon as it is.
#[derive(Debug, Args)]
pub(crate) struct Proxy {
    /// Server with a name of your choice: the command to start it, quoted as in a shell, or its URL; can be repeated
    #[arg(short = 's', long = "server", value_name = "NAME=COMMAND|URL")]
    named: Vec<String>,

    /// Servers of a configuration file of a host, such as `mcp.json` or `claude_desktop_config.json`; can be repeated
    #[arg(short = 'f', long = "config", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Server over HTTP whose names have no prefix
    #[arg(long, value_name = "URL", conflicts_with = "program")]
    url: Option<String>,

    /// Start a server with this program and its arguments, after `--`
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<String>,

    /// Trust the certificate authorities in this PEM file, beside those of the system, for all servers over HTTP; can be repeated.
    /// In a configuration file, `tls` of a server has `caCert`, `clientCert` and `clientKey`, and `unixSocket` is its socket
    #[arg(long = "ca-cert", value_name = "FILE")]
    authorities: Vec<PathBuf>,

    /// Serve only what matches, such as `files.*`, or what does not match, after `!`; `*` is any text. The last match counts;
    /// can be repeated
    #[arg(long = "filter", value_name = "[!]PATTERN")]
    filters: Vec<String>,

    /// Serve a tool, prompt or resource under another name, with the same prefix; can be repeated
    #[arg(long = "rename", value_name = "NAME=NEW")]
    renamed: Vec<String>,

    /// Serve over HTTP at this address, with the path /mcp, in place of stdio
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    http: Option<String>,

    /// Let slow calls become tasks of clients that know tasks; they end with this program
    #[arg(long)]
    tasks: bool,

    /// Append every message to and from the servers to a file, as lines of JSON, or show them on standard error with `-`
    #[arg(long, value_name = "FILE|-", value_parser = parse_log)]
    log: Option<TraceTarget>,

    /// Protocol revision to use with all servers, e.g. 2025-11-25 [default: the newest that both sides support]
    #[arg(long, value_name = "REVISION")]
    protocol_version: Option<Revision>,

    #[command(flatten)]
    messages: MessageArgs,

    /// Time to wait for the servers before clients are served, because many clients list tools only once
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    wait: Duration,

    /// Authorization of servers over HTTP. Nothing can be set: stored tokens are used, and the user signs in at a terminal.
    #[arg(skip)]
    auth: AuthArgs,

    #[command(flatten)]
    pub(super) verbosity: Verbosity,
}

/// Parses the target of the log. All of a message is shown.
fn parse_log(text: &str) -> Result<TraceTarget, String> {
    match text {
        "-" => Ok(TraceTarget::Stderr { full: true }),
        file => parse_trace_target(file),
    }
}

/// Checks an address to serve at: a host and a port.
fn parse_address(text: &str) -> Result<String, String> {
    let parts = text.rsplit_once(':');
    let is_address =
        parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if is_address {
        return Ok(text.to_owned());
    }
    Err("expected `host:port`, such as 127.0.0.1:8000".to_owned())
}

impl Proxy {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        print_warnings(terminal);
        let servers = self.servers(terminal)?;
        let prefixes = servers.iter().map(|(_, namespace, _)| prefix_of(namespace));
        let prefixes: Vec<_> = prefixes.collect();
        let renames = Renames::parse(&self.renamed, &prefixes)?;
        let mut builder = Server::builder("treenail-proxy", env!("CARGO_PKG_VERSION")).dynamic();
        if self.tasks {
            builder = builder.extension(Tasks::new());
        }
        let server = builder
            .build()
            .map_err(|error| Failure::usage(error.to_string()))?;
        // An address that is in use is reported before a server is started.
        let endpoint = self.bind(&server).await?;
        let gateway = Gateway::new(&server);
        for server in servers {
            self.mount(&gateway, server, &renames, terminal)?;
        }
        let serving = async {
            gateway.ready(self.wait).await;
            serve(&server, endpoint, terminal).await
        };
        let outcome = tokio::select! {
            outcome = serving => outcome.map(|()| Exit::Success),
            () = interrupted() => Ok(Exit::Interrupted),
            () = terminated() => Ok(Exit::Terminated),
        };
        // Servers that are processes would be killed otherwise. A second signal does so at once.
        tokio::select! {
            () = gateway.close() => {}
            () = interrupted() => {}
        }
        outcome
    }

    /// Returns all servers with their names and namespaces.
    fn servers(&self, terminal: &Terminal) -> Result<Vec<(String, String, ServerEntry)>, Failure> {
        let nested = nested_files(&self.files)?;
        let mut servers = Vec::new();
        for given in &self.named {
            let (name, entry) = named(given)?;
            servers.push((name.clone(), name, entry));
        }
        for file in &self.files {
            for (name, entry) in configured(file, terminal)? {
                servers.push((name.clone(), name, entry));
            }
        }
        if let [program, args @ ..] = &self.program[..] {
            let entry = ServerEntry::Program {
                command: program.clone(),
                args: args.to_vec(),
                env: Vec::new(),
                cwd: None,
            };
            servers.push((program.clone(), String::new(), entry));
        }
        if let Some(url) = &self.url {
            let entry = ServerEntry::Url {
                url: url.clone(),
                headers: Vec::new(),
                tls: EntryTls::default(),
            };
            servers.push((describe_url(url), String::new(), entry));
        }
        for (_, _, entry) in &mut servers {
            if let ServerEntry::Program { env, .. } = entry {
                env.extend(nested.clone());
            }
        }
        if servers.is_empty() {
            let message =
                "there is no server: give one with `--server`, `--config`, `--url` or after `--`";
            return Err(Failure::usage(message));
        }
        for (index, (name, namespace, _)) in servers.iter().enumerate() {
            if servers[..index]
                .iter()
                .any(|(_, other, _)| other == namespace)
            {
                return Err(Failure::usage(format!("duplicate server name `{name}`")));
            }
        }
        Ok(servers)
    }

    fn mount(
        &self,
        gateway: &Gateway,
        (name, namespace, entry): (String, String, ServerEntry),
        renames: &Renames,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        let tail = StderrTail::new(terminal);
        let behind = BehindProxy {
            name: name.clone(),
            entry,
            protocol_version: self.protocol_version,
            messages: self.messages,
            log: self.log.clone(),
            auth: self.auth.clone(),
            authorities: self.authorities.clone(),
            output: OutputArgs {
                json: false,
                verbosity: self.verbosity,
            },
            terminal: terminal.clone(),
            tail: tail.clone(),
        };
        // Options that are wrong are reported at once, and not when the server is connected.
        drop(behind.builder()?);
        let remote = Remote::new(name, move || behind.builder_or_none()).namespace(&*namespace);
        let mut remote = self.select(remote, &namespace, renames)?;
        if self.tasks {
            remote = remote.task(ToolTask::new());
        }
        let mounted = gateway
            .mount(remote)
            .map_err(|error| Failure::usage(error.to_string()))?;
        tokio::spawn(report(mounted, tail, terminal.clone()));
        Ok(())
    }

    /// Adds the filters and names of the options.
    fn select(
        &self,
        remote: Remote,
        namespace: &str,
        renames: &Renames,
    ) -> Result<Remote, Failure> {
        let patterns = Patterns::parse(&self.filters)?;
        let prefix = prefix_of(namespace);
        let start = prefix.clone();
        let mut remote =
            remote.filter(move |item| patterns.include(&format!("{start}{}", item.name())));
        for (from, to) in renames.of(&prefix) {
            remote = remote.rename(from, to);
        }
        Ok(remote)
    }

    /// Binds the address for HTTP, if there is one.
    async fn bind(&self, server: &Server) -> Result<Option<HttpServer>, Failure> {
        match &self.http {
            None => Ok(None),
            Some(address) => server.bind_http(address).await.map(Some).map_err(failed),
        }
    }
}

/// Serves until the client closes standard input, or the server over HTTP ends.
async fn serve(
    server: &Server,
    endpoint: Option<HttpServer>,
    terminal: &Terminal,
) -> Result<(), Failure> {
    match endpoint {
        None => server.serve_stdio().await.map_err(failed),
        Some(http) => {
            let address = http.local_addr();
            terminal.print_note(&format!("serving http://{address}/mcp"));
            http.serve().await.map_err(failed)
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the argument of `map_err`")]
fn failed(error: treenail::Error) -> Failure {
    Failure::new(Exit::Io, error.to_string())
}
