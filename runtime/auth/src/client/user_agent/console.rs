//! Sign-in over a terminal.

use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::{AuthorizationRequest, UserAgent, UserAgentFlow, UserAgentFuture};
use crate::AuthError;
use crate::client::urls::MAX;

/// Port at which nothing is expected to listen.
const REDIRECT_URI: &str = "http://127.0.0.1:33418/callback";

type Input = Box<dyn BufRead + Send>;
type Output = Box<dyn Write + Send>;

/// Sign-in over a terminal: prints the URL to standard error, and reads the URL of the redirect from standard input.
///
/// The user copies that URL from the address bar of a browser, which may run on another computer. The page does not load, since
/// nothing listens there.
#[derive(Clone)]
#[cfg(feature = "oauth")]
pub struct Console {
    redirect_uri: Arc<str>,
    streams: Arc<Mutex<Streams>>,
}

struct Streams {
    input: Input,
    output: Output,
}

impl Console {
    /// Returns a user agent over the standard streams.
    pub fn new() -> Self {
        Self::over(io::BufReader::new(io::stdin()), io::stderr())
    }

    /// Returns a user agent over other streams.
    pub fn over(input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> Self {
        Self {
            redirect_uri: REDIRECT_URI.into(),
            streams: Arc::new(Mutex::new(Streams {
                input: Box::new(input),
                output: Box::new(output),
            })),
        }
    }

    /// Sets the redirect URI; [`redirect_uri`](UserAgent::redirect_uri) returns it. Default: `http://127.0.0.1:33418/callback`.
    #[must_use]
    pub fn with_redirect_uri(mut self, redirect_uri: impl Into<String>) -> Self {
        self.redirect_uri = redirect_uri.into().into();
        self
    }
}

impl Default for Console {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Console")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}

impl UserAgent for Console {
    fn redirect_uri(&self) -> String {
        self.redirect_uri.to_string()
    }

    fn prepare<'a>(&'a self, _: Option<&'a str>) -> UserAgentFuture<'a, Box<dyn UserAgentFlow>> {
        let flow = self.clone();
        Box::pin(async move { Ok(Box::new(flow) as Box<dyn UserAgentFlow>) })
    }
}

impl UserAgentFlow for Console {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn authorize<'a>(
        &'a mut self,
        request: &'a AuthorizationRequest,
    ) -> UserAgentFuture<'a, String> {
        let (streams, request) = (Arc::clone(&self.streams), request.clone());
        let (sender, receiver) = oneshot::channel();
        Box::pin(async move {
            // Reading blocks until the user has typed, so a task of the runtime would delay its shutdown.
            std::thread::spawn(move || {
                let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
                let redirect = streams.ask(&request, || sender.is_closed());
                // The flow may have ended already.
                let _ = sender.send(redirect);
            });
            let closed = |_| AuthError::NotAuthorized("the terminal failed".into());
            receiver.await.map_err(closed)?
        })
    }
}

impl Streams {
    /// Asks until the user enters the redirect of this flow, or the flow is over.
    fn ask(
        &mut self,
        request: &AuthorizationRequest,
        is_over: impl Fn() -> bool,
    ) -> Result<String, AuthError> {
        let failed = |error: io::Error| {
            AuthError::NotAuthorized(format!("the terminal failed: {error}").into())
        };
        let (server, authorization_server) = (request.server(), request.authorization_server());
        let text = format!(
            "{server} requires authorization. Open this URL to sign in at {authorization_server}:\n\n{}\n\n\
             Then paste the URL of the page to which you are redirected, even if the page does not load:\n",
            request.url()
        );
        self.output.write_all(text.as_bytes()).map_err(failed)?;
        loop {
            self.output.flush().map_err(failed)?;
            let redirect = self.read_line().map_err(failed)?;
            let redirect = redirect.ok_or_else(|| {
                AuthError::NotAuthorized("the input ended before the redirect was entered".into())
            })?;
            if request.accepts(redirect.trim()) {
                return Ok(redirect.trim().to_owned());
            }
            if is_over() {
                // Another flow may wait for the streams.
                return Err(AuthError::NotAuthorized("the sign-in has ended".into()));
            }
            let again = format!(
                "This is not the redirect of this request; it starts with {}. Paste it here:\n",
                request.redirect_uri()
            );
            self.output.write_all(again.as_bytes()).map_err(failed)?;
        }
    }

    /// Reads a line of bounded length; `None` at the end of the input.
    fn read_line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let read = (&mut self.input)
            .take(MAX as u64)
            .read_until(b'\n', &mut line)?;
        let text = String::from_utf8_lossy(&line).into_owned();
        Ok((read > 0).then_some(text))
    }
}

#[cfg(test)]
mod tests {
    use http::Uri;

    use super::super::super::code::tests::request_at;
    use super::*;

    /// Output that a test reads.
    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    async fn enter(input: &'static str) -> (Result<String, AuthError>, String) {
        let screen = Screen::default();
        let console = Console::over(input.as_bytes(), screen.clone());
        let request = request_at(
            REDIRECT_URI,
            &Uri::from_static("https://mcp.example.com/mcp"),
        );
        let mut flow = console.prepare(None).await.unwrap();
        assert_eq!(flow.redirect_uri(), REDIRECT_URI);
        let redirect = flow.authorize(&request).await;
        let shown = String::from_utf8(screen.0.lock().unwrap().clone()).unwrap();
        (redirect, shown)
    }

    /// AUTH-C-92, AUTH-C-83
    #[tokio::test]
    async fn the_pasted_redirect_of_the_flow_is_accepted() {
        let good = "http://127.0.0.1:33418/callback?code=c1&state=state-of-this-flow";
        let (redirect, shown) = enter(
            "nonsense\nhttp://127.0.0.1:33418/callback?code=x&state=other\n \
                   http://127.0.0.1:33418/callback?code=c1&state=state-of-this-flow \n",
        )
        .await;
        assert_eq!(redirect.unwrap(), good);
        assert!(
            shown.contains("https://auth.example.com/authorize"),
            "{shown}"
        );
        assert!(
            shown.contains("mcp.example.com requires authorization"),
            "{shown}"
        );
        assert_eq!(
            shown.matches("not the redirect of this request").count(),
            2,
            "{shown}"
        );
    }

    #[tokio::test]
    async fn the_end_of_the_input_ends_the_flow() {
        let (redirect, _) = enter("nonsense\n").await;
        assert!(matches!(redirect, Err(AuthError::NotAuthorized(_))));
    }
}
