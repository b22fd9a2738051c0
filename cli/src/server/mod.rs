//! A server that is connected to: how it is found, and how requests to it are waited for.

mod clock;
mod environment;
mod http;
mod run;
mod stderr;
mod target;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use treenail::client::{ClientLimits, McpClientBuilder, ServerCommand, Stderr};
use treenail::schema::{LoggingLevel, Root};
use treenail::{ClientError, McpClient};

pub(crate) use self::clock::Clock;
pub(crate) use self::run::{terminated, until_told_to_end};
use self::stderr::Tail;
use self::target::Target;
use crate::args::ServerArgs;
use crate::ask::{Asked, Lines, SharedLines};
use crate::exit::{Exit, Failure};
use crate::screen::Screen;

/// Longer than any call; the clock of the program bounds them, because it can be stopped.
const UNBOUNDED: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// A server that is connected to.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) client: McpClient,
    pub(crate) screen: Screen,
    clock: Arc<Clock>,
    tail: Tail,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// One request, and those that it takes to make it.
    Request,
    /// Requests of a model, for as long as the user talks with it.
    Conversation,
}

impl Connected {
    /// Connects, does something with the server, and ends the connection whatever came of it.
    pub(crate) async fn with<T>(
        args: &ServerArgs,
        screen: &Screen,
        work: impl AsyncFnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // Futures that connect and call are large.
        let lines = Lines::shared(screen);
        let opening = Self::open(args, screen, &lines, Purpose::Request);
        let connected = Box::pin(opening).await?;
        let done = Box::pin(work(&connected)).await;
        connected.close().await;
        done
    }

    /// Connects. What the server asks is answered by `lines`.
    pub(crate) async fn open(
        args: &ServerArgs,
        screen: &Screen,
        lines: &SharedLines,
        purpose: Purpose,
    ) -> Result<Self, Failure> {
        let clock = Clock::new(args.timeout);
        let asked = Asked::new(&args.answers, screen, lines, &clock)?;
        let tail = Tail::new(screen);
        let mut limits = ClientLimits::default();
        let probe_timeout = args.probe.probe_timeout;
        limits.probe_timeout =
            probe_timeout.unwrap_or_else(|| limits.probe_timeout.min(args.timeout));
        limits.request_timeout = args.timeout;
        let mut builder = McpClient::builder()
            .client_info("treenail", env!("CARGO_PKG_VERSION"))
            .subscribe_to_changes(purpose == Purpose::Conversation)
            // Whoever makes one request wants to see what comes, whatever it is.
            .validate_results(purpose == Purpose::Conversation)
            .limits(limits.clone())
            .on_elicit({
                let asked = Arc::clone(&asked);
                move |params| Arc::clone(&asked).answer(params)
            });
        if let Some(revision) = args.protocol_version {
            builder = builder.protocol_version(revision);
        }
        if !args.roots.is_empty() {
            let roots: Result<Vec<_>, _> = args.roots.iter().map(|path| root(path)).collect();
            builder = builder.roots(roots?);
        }
        let builder = aim(builder, args, &tail, &limits)?;
        let connecting = async { builder.build().await.map_err(unreachable) };
        let client = Box::pin(until_told_to_end(connecting)).await;
        let client = match client {
            Ok(client) => client,
            Err(failure) => return Err(tail.explain(failure).await),
        };
        asked.know(&client.session().peer_info());
        let connected = Self {
            client,
            screen: screen.clone(),
            clock,
            tail,
        };
        connected.ask_for_log().await;
        Ok(connected)
    }

    /// Ends the connection in an orderly way, as long as the user waits for that.
    pub(crate) async fn close(&self) {
        self.screen.end_progress();
        let closing = async { Ok(self.client.close().await?) };
        if let Err(failure) = until_told_to_end(closing).await {
            let why = failure.message();
            self.screen
                .note(&format!("the server was not ended in order: {why}"));
        }
        self.tail.settle().await;
    }

    /// Which log messages are shown.
    fn log_level(&self) -> Option<LoggingLevel> {
        match self.screen.verbose() {
            0 => None,
            1 => Some(LoggingLevel::Info),
            _ => Some(LoggingLevel::Debug),
        }
    }

    /// Servers of the legacy era are asked once for their log messages.
    async fn ask_for_log(&self) {
        let session = self.client.session();
        let is_legacy = !session.protocol_version().is_modern();
        let Some(level) = self.log_level() else {
            return;
        };
        if is_legacy && session.server_capabilities().logging.is_some() {
            if let Err(error) = session.logging_set_level(level).await {
                self.screen
                    .note(&format!("there is no log of the server: {error}"));
            }
        }
    }
}

/// Tells the builder what to connect to.
fn aim(
    builder: McpClientBuilder,
    args: &ServerArgs,
    tail: &Tail,
    limits: &ClientLimits,
) -> Result<McpClientBuilder, Failure> {
    match Target::of(args)? {
        Target::Program { program, arguments } => {
            let command = ServerCommand::new(program).args(arguments);
            let command = environment::with_environment(command, &args.environment)?;
            let command = command.stderr(Stderr::lines(tail.listen()));
            Ok(builder.command(command.on_stray_line(tail.listen_for_stray_lines())))
        }
        Target::Url { url, headers } => Ok(builder.session(http::open(&url, &headers, limits)?)),
    }
}

/// A server with which nothing can be begun cannot be reached, whatever it does instead.
fn unreachable(error: ClientError) -> Failure {
    match error {
        ClientError::Closed(reason) => {
            Failure::new(Exit::Connection, format!("no connection: {reason}"))
        }
        ClientError::Timeout(_) | ClientError::Protocol(_) => Failure::new(
            Exit::Connection,
            format!("no session with the server: {error}"),
        ),
        error => error.into(),
    }
}

/// A directory as servers are told of it.
fn root(path: &Path) -> Result<Root, Failure> {
    let full = path.canonicalize().map_err(|error| {
        Failure::usage(format!(
            "the directory `{}` for --roots: {error}",
            path.display()
        ))
    })?;
    if !full.is_dir() {
        let message = format!("`{}` for --roots is no directory", path.display());
        return Err(Failure::usage(message));
    }
    let mut root = Root::new(target::file_uri(&full));
    root.name = full
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Ok(root)
}
