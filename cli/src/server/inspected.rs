//! Connection of `treenail inspect`: a handler of its own, and a sink for every message.

use std::sync::Arc;

use treenail::McpClient;
use treenail::client::ClientHandler;

use super::authorization::check_options;
use super::stderr_tail::{LineObserver, StderrTail};
use super::target::Target;
use super::trace::{Trace, TraceSink};
use super::{Pauses, base_builder, connection_failure, http, oauth_client, set_target};
use crate::args::ServerArgs;
use crate::exit::Failure;
use crate::terminal::Terminal;

/// Receivers of the requests, messages and lines of a server, and the pauses of its calls while the user signs in.
pub(crate) struct InspectedParts<H> {
    pub(crate) handler: H,
    pub(crate) sink: Arc<dyn TraceSink>,
    pub(crate) on_line: LineObserver,
    pub(crate) sign_ins: Pauses,
}

/// Connection of `treenail inspect`.
#[derive(Debug)]
pub(crate) struct Inspected;

impl Inspected {
    /// Connects to a server. The future is cancelled by dropping it.
    pub(crate) async fn open(
        args: &ServerArgs,
        terminal: &Terminal,
        parts: InspectedParts<impl ClientHandler>,
    ) -> Result<McpClient, Failure> {
        check_options(args).await?;
        let tail = StderrTail::new(terminal).observed(parts.on_line);
        let (builder, limits) = base_builder(args, true);
        // Results are shown even if they are invalid.
        let builder = builder.validate_results(false).handler(parts.handler);
        let trace = Trace::with_sink(args, terminal, parts.sink)?;
        let builder = set_target(builder, args, None, &tail, &|url, headers| {
            let oauth = oauth_client(args, terminal, &parts.sign_ins)?;
            http::open_session(args, (url, headers), oauth, (&limits, Some(&trace)))
        })?;
        let wrapping = trace.clone();
        let builder = builder.wrap_session(move |session| wrapping.wrap(session));
        match Box::pin(builder.build()).await {
            Ok(client) => Ok(client),
            Err(error) => Err(tail
                .add_to(connection_failure(error, args.target.url.as_deref()))
                .await),
        }
    }
}

/// Returns the words of a command line that select the same server: `--url` and the URL, or `--` and the program.
pub(crate) fn target_words(args: &ServerArgs) -> Result<Vec<String>, Failure> {
    Ok(match Target::from_args(args)? {
        Target::Url { url, .. } => vec!["--url".to_owned(), url],
        Target::Program { program, arguments } => {
            let words = std::iter::once(program).chain(arguments);
            let words = words.map(|word| word.to_string_lossy().into_owned());
            std::iter::once("--".to_owned()).chain(words).collect()
        }
    })
}
