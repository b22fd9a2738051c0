//! Terminal that a user signs in over: the text that it shows, and the redirect that the user enters.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Mutex, PoisonError};

use super::AuthorizationRequest;
use crate::AuthError;
use crate::client::urls::MAX;

/// Streams of a terminal, shared by flows.
pub(super) struct Streams {
    input: Mutex<Input>,
    output: Mutex<Box<dyn Write + Send>>,
}

/// Input of one flow after the other.
struct Input {
    stream: Box<dyn BufRead + Send>,
    /// Line that a flow which is over has read.
    unread: Option<String>,
}

impl Streams {
    pub(super) fn new(
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> Self {
        Self {
            input: Mutex::new(Input {
                stream: Box::new(input),
                unread: None,
            }),
            output: Mutex::new(Box::new(output)),
        }
    }

    /// Asks until the user enters the redirect of this flow, or the flow is over.
    pub(super) fn ask(
        &self,
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
        self.show(&text).map_err(failed)?;
        // A flow that is over may hold the input until the user enters the next line.
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = |line: &String| request.accepts(line.trim());
        // A line for no flow that waits is nothing to complain about.
        if let Some(line) = input.unread.take_if(|_| !is_over()).filter(is_own) {
            return Ok(line.trim().to_owned());
        }
        while !is_over() {
            let line = input.read_line().map_err(failed)?;
            let line = line.ok_or_else(|| {
                AuthError::NotAuthorized("the input ended before the redirect was entered".into())
            })?;
            if is_own(&line) {
                return Ok(line.trim().to_owned());
            }
            if is_over() {
                input.unread = Some(line);
                break;
            }
            let again = format!(
                "This is not the redirect of this request; it starts with {}. Paste it here:\n",
                request.redirect_uri()
            );
            self.show(&again).map_err(failed)?;
        }
        Err(AuthError::NotAuthorized("the sign-in has ended".into()))
    }

    fn show(&self, text: &str) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(text.as_bytes())?;
        output.flush()
    }
}

impl Input {
    /// Reads a line of bounded length; `None` at the end of the input.
    fn read_line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let read = (&mut self.stream)
            .take(MAX as u64)
            .read_until(b'\n', &mut line)?;
        let text = String::from_utf8_lossy(&line).into_owned();
        Ok((read > 0).then_some(text))
    }
}
