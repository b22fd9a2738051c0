//! Connections to servers, and requests with a timeout.

mod authorization;
mod environment;
mod http;
mod inspected;
mod message_limit;
mod proxied;
mod request_timer;
mod run;
mod stderr_tail;
mod target;
mod task;
mod tls;
pub(crate) mod trace;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use treenail::client::{ClientLimits, McpClientBuilder, ServerCommand, Session, Stderr};
use treenail::schema::{LoggingLevel, Root};
use treenail::tasks::TaskBuilderExt as _;
use treenail::{ClientError, McpClient};

use self::authorization::oauth_client;
pub(crate) use self::authorization::{SignIn, client_without_tokens, stored_client};
pub(crate) use self::http::{check_request, describe_url};
pub(crate) use self::inspected::{Inspected, InspectedParts, target_words};
pub(crate) use self::message_limit::MessageArgs;
pub(crate) use self::proxied::{NESTED_SHUTDOWN_TIMEOUT, proxied_client};
pub(crate) use self::request_timer::{PauseGuard, Pauses, RequestTimer};
pub(crate) use self::stderr_tail::{LineObserver, LineSource, StderrTail};
use self::target::Target;
pub(crate) use self::task::status_name;
pub(crate) use self::tls::{TlsArgs, trust};
use self::trace::Trace;
use crate::args::ServerArgs;
use crate::elicit::{ElicitationHandler, LineReader, SharedLineReader};
use crate::exit::{Exit, Failure};
use crate::signals::until_interrupted;
use crate::terminal::Terminal;

/// Timeout that never expires in practice. The [`RequestTimer`] enforces the real one, because it can be paused.
pub(crate) const UNBOUNDED: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// Connection to a server.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) client: McpClient,
    pub(crate) terminal: Terminal,
    timer: Arc<RequestTimer>,
    tail: StderrTail,
    handler: Arc<ElicitationHandler>,
}

/// Lifetime of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionMode {
    /// One request, and those that prepare it.
    OneShot,
    /// Requests of a model during a chat.
    Conversation,
}

impl Connection {
    /// Connects, runs `work`, and closes the connection in every case.
    pub(crate) async fn with_connection<T>(
        args: &ServerArgs,
        terminal: &Terminal,
        work: impl AsyncFnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // The futures are boxed because they are large.
        let line_reader = LineReader::shared(terminal);
        let opening = Self::open(args, terminal, &line_reader, ConnectionMode::OneShot);
        let connected = Box::pin(opening).await?;
        let done = Box::pin(work(&connected)).await;
        connected.close().await;
        done
    }

    /// Connects to a server. Prompts for elicitation read from `line_reader`.
    pub(crate) async fn open(
        args: &ServerArgs,
        terminal: &Terminal,
        line_reader: &SharedLineReader,
        mode: ConnectionMode,
    ) -> Result<Self, Failure> {
        authorization::check_options(args).await?;
        let timer = RequestTimer::new(args.timeout);
        let handler = ElicitationHandler::new(&args.answers, terminal, line_reader, &timer)?;
        let tail = StderrTail::new(terminal);
        let (mut builder, limits) = base_builder(args, mode == ConnectionMode::Conversation);
        let elicitation = Arc::clone(&handler);
        builder = builder
            // A single request is for inspection, so its result is shown even if it is invalid.
            .validate_results(mode == ConnectionMode::Conversation)
            .on_elicit(move |params| Arc::clone(&elicitation).handle(params));
        if !args.roots.is_empty() {
            builder = builder.roots(roots_of(args)?);
        }
        let trace = Trace::from_args(args, terminal)?;
        let builder = set_target(builder, args, None, &tail, &|url, headers| {
            let oauth = oauth_client(args, terminal, timer.pauses())?;
            http::open_session(args, (url, headers), oauth, (&limits, trace.as_ref()))
        })?;
        let builder = match trace.clone() {
            Some(trace) => builder.wrap_session(move |session| trace.wrap(session)),
            None => builder,
        };
        let client = connect(builder, args.target.url.as_deref(), &tail).await?;
        handler.set_server_name(&client.session().peer_info());
        let connected = Self {
            client,
            terminal: terminal.clone(),
            timer,
            tail,
            handler,
        };
        let setting = async {
            connected.set_log_level().await;
            Ok(())
        };
        until_interrupted(setting).await?;
        Ok(connected)
    }

    /// Leaves further questions of the server to other commands.
    pub(crate) fn stop_answering(&self) {
        self.handler.stop_answering();
    }

    /// Closes the connection gracefully, unless the user interrupts it.
    pub(crate) async fn close(&self) {
        self.terminal.clear_progress();
        let closing = async { Ok(self.client.close().await?) };
        if let Err(failure) = until_interrupted(closing).await {
            let why = failure.message();
            self.terminal
                .print_note(&format!("the server did not shut down cleanly: {why}"));
        }
        self.tail.drain().await;
    }

    /// Returns the minimum level of log messages to show.
    fn log_level(&self) -> Option<LoggingLevel> {
        match self.terminal.verbose() {
            0 => None,
            1 => Some(LoggingLevel::Info),
            _ => Some(LoggingLevel::Debug),
        }
    }

    /// Requests log messages from a server of the legacy era, which takes the level once per session.
    async fn set_log_level(&self) {
        let session = self.client.session();
        let is_legacy = !session.protocol_version().is_modern();
        let Some(level) = self.log_level() else {
            return;
        };
        if is_legacy
            && session.server_capabilities().logging.is_some()
            && let Err(error) = session.logging_set_level(level).await
        {
            self.terminal
                .print_note(&format!("could not enable log messages: {error}"));
        }
    }
}

/// Opens a session with a URL and headers.
type OpenHttp<'a> = dyn Fn(&str, &[(String, String)]) -> Result<Arc<dyn Session>, Failure> + 'a;

/// Returns a builder with the options that all connections have in common, and the limits.
fn base_builder(args: &ServerArgs, subscribe: bool) -> (McpClientBuilder, ClientLimits) {
    let mut limits = ClientLimits::default();
    let probe_timeout = args.probe.probe_timeout;
    limits.probe_timeout = probe_timeout.unwrap_or_else(|| limits.probe_timeout.min(args.timeout));
    limits.request_timeout = args.timeout;
    args.messages.apply(&mut limits);
    let mut builder = McpClient::builder()
        .client_info("treenail", env!("CARGO_PKG_VERSION"))
        .subscribe_to_changes(subscribe)
        .limits(limits.clone());
    if let Some(revision) = args.protocol_version {
        builder = builder.protocol_version(revision);
    }
    if args.tasks {
        builder = builder.tasks();
    }
    (builder, limits)
}

/// Configures the builder with the server to connect to. A program runs in `directory`.
fn set_target(
    builder: McpClientBuilder,
    args: &ServerArgs,
    directory: Option<&Path>,
    tail: &StderrTail,
    open_http: &OpenHttp<'_>,
) -> Result<McpClientBuilder, Failure> {
    match Target::from_args(args)? {
        Target::Program { program, arguments } => {
            args.tls.check_unused()?;
            let mut command = ServerCommand::new(program).args(arguments);
            if let Some(directory) = directory {
                command = command.current_dir(directory);
            }
            let command = environment::apply_environment(command, &args.environment)?;
            let command = command.stderr(Stderr::lines(tail.stderr_listener()));
            Ok(builder.command(command.on_stray_line(tail.stray_line_listener())))
        }
        Target::Url { url, headers } => Ok(builder.session(open_http(&url, &headers)?)),
    }
}

/// Starts the session, unless the user interrupts it. A failure contains the last lines of the server.
async fn connect(
    builder: McpClientBuilder,
    url: Option<&str>,
    tail: &StderrTail,
) -> Result<McpClient, Failure> {
    let connecting = async {
        builder
            .build()
            .await
            .map_err(|error| connection_failure(error, url))
    };
    match Box::pin(until_interrupted(connecting)).await {
        Ok(client) => Ok(client),
        Err(failure) => Err(tail.add_to(failure).await),
    }
}

/// Maps all failures to start a session to [`Exit::Connection`], except those of HTTP, and answers above the limit of this program.
fn connection_failure(error: ClientError, url: Option<&str>) -> Failure {
    match error {
        ClientError::Closed(reason) | ClientError::Unreachable(reason) => {
            let failure = Failure::new(
                Exit::Connection,
                format!("could not connect to the server: {reason}"),
            );
            if url.is_none() && reason.starts_with("the server has exited with status 0") {
                return failure.note(
                    "the program ended without an answer; a server on standard streams reads messages until its input ends",
                );
            }
            match tls::hint(&reason) {
                Some(hint) => failure.note(hint),
                None => failure,
            }
        }
        ClientError::Timeout(_) | ClientError::Protocol(_) => Failure::new(
            Exit::Connection,
            format!("could not start a session with the server: {error}"),
        ),
        error => {
            let is_path = matches!(
                error,
                ClientError::Unsupported(_)
                    | ClientError::Http {
                        status: 404 | 405,
                        ..
                    }
            );
            let proposed = url.filter(|_| is_path).and_then(http::url_with_path);
            let failure = Failure::from(error);
            match proposed {
                Some(url) => failure.note(format!("the URL has no path; most servers use `{url}`")),
                None => failure,
            }
        }
    }
}

/// Returns the roots of the command line.
pub(crate) fn roots_of(args: &ServerArgs) -> Result<Vec<Root>, Failure> {
    args.roots.iter().map(|path| root_of(path)).collect()
}

/// Returns the root that exposes a directory to the server.
fn root_of(path: &Path) -> Result<Root, Failure> {
    let full = path.canonicalize().map_err(|error| {
        Failure::usage(format!(
            "cannot open the directory `{}` for --roots: {error}",
            path.display()
        ))
    })?;
    if !full.is_dir() {
        let message = format!("`{}` for --roots is not a directory", path.display());
        return Err(Failure::usage(message));
    }
    let mut root = Root::new(target::file_uri(&full));
    root.name = full
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Ok(root)
}
