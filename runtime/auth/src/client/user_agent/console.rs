//! Sign-in over a terminal.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use tokio::sync::oneshot;

use super::terminal::Streams;
use super::{AuthorizationRequest, UserAgent, UserAgentFlow, UserAgentFuture};
use crate::AuthError;

/// Port at which nothing is expected to listen.
const REDIRECT_URI: &str = "http://127.0.0.1:33418/callback";

/// Sign-in over a terminal: prints the URL to standard error, and reads the URL of the redirect from standard input.
///
/// The user copies that URL from the address bar of a browser, which may run on another computer. The page does not load, since
/// nothing listens there.
#[derive(Clone)]
#[cfg(feature = "oauth")]
pub struct Console {
    redirect_uri: Arc<str>,
    streams: Arc<Streams>,
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
            streams: Arc::new(Streams::new(input, output)),
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
                let redirect = streams.ask(&request, || sender.is_closed());
                // The flow may have ended already.
                let _ = sender.send(redirect);
            });
            let closed = |_| AuthError::NotAuthorized("the terminal failed".into());
            receiver.await.map_err(closed)?
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Mutex;

    use http::Uri;
    use tokio::sync::Notify;

    use super::super::super::code::tests::request_at;
    use super::*;

    /// Output that a test reads.
    #[derive(Clone, Default)]
    struct Screen {
        bytes: Arc<Mutex<Vec<u8>>>,
        changed: Arc<Notify>,
    }

    impl Screen {
        fn text(&self) -> String {
            String::from_utf8(self.bytes.lock().unwrap().clone()).unwrap()
        }

        /// Waits for a number of requests.
        async fn shows(&self, requests: usize) {
            while self.text().matches("requires authorization").count() < requests {
                self.changed.notified().await;
            }
        }
    }

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.bytes.lock().unwrap().extend_from_slice(bytes);
            self.changed.notify_one();
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
        (redirect, screen.text())
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

    /// Lines that a test enters, after it has learnt that the console waits for one.
    struct Keyboard {
        waiting: tokio::sync::mpsc::UnboundedSender<()>,
        lines: std::sync::mpsc::Receiver<&'static str>,
    }

    impl Read for Keyboard {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.waiting.send(()).map_err(io::Error::other)?;
            let line = self.lines.recv().map_err(io::Error::other)?;
            bytes[..line.len()].copy_from_slice(line.as_bytes());
            Ok(line.len())
        }
    }

    #[tokio::test]
    async fn a_flow_that_is_over_neither_hides_the_next_one_nor_takes_its_line() {
        let (waiting, mut is_waiting) = tokio::sync::mpsc::unbounded_channel();
        let (keys, lines) = std::sync::mpsc::channel();
        let screen = Screen::default();
        let keyboard = io::BufReader::new(Keyboard { waiting, lines });
        let console = Console::over(keyboard, screen.clone());
        let server = Uri::from_static("https://mcp.example.com/mcp");
        let former = request_at("http://127.0.0.1:33418/former", &server);
        let mut flow = console.prepare(None).await.unwrap();
        tokio::select! {
            _ = flow.authorize(&former) => panic!("nothing was entered"),
            waiting = is_waiting.recv() => waiting.unwrap(),
        }
        let request = request_at(REDIRECT_URI, &server);
        let mut flow = console.prepare(None).await.unwrap();
        let mut redirect = flow.authorize(&request);
        tokio::select! {
            biased;
            _ = &mut redirect => panic!("nothing was entered"),
            () = screen.shows(2) => {}
        }
        let good = "http://127.0.0.1:33418/callback?code=c1&state=state-of-this-flow\n";
        keys.send(good).unwrap();
        assert_eq!(redirect.await.unwrap(), good.trim());
        assert!(!screen.text().contains("not the redirect"));
    }
}
