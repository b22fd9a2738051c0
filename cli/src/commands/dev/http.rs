//! Servers over HTTP, which clients connect to directly.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use treenail::ClientError;
use treenail::client::{ClientLimits, HttpSession, Session, SessionRequest};

use super::build::{BuildOutcome, Program};
use super::process::ProcessGroup;
use crate::exit::Failure;
use crate::terminal::Terminal;

/// Timeout of a server to accept connections after its start.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// Pause between two attempts to connect.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(50);

/// Timeout of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);

/// Supervisor of a server over HTTP. Its port is fixed, so the old server is stopped before the new one is started.
#[derive(Debug)]
pub(super) struct HttpSupervisor {
    url: String,
    terminal: Terminal,
    server: Option<ProcessGroup>,
    /// End of the time to accept connections, until the server does.
    starts_until: Option<Instant>,
}

impl HttpSupervisor {
    pub(super) fn new(url: &str, terminal: &Terminal) -> Result<Self, Failure> {
        // Invalid URLs are rejected before the first build.
        HttpSession::builder(url).build()?;
        Ok(Self {
            url: url.to_owned(),
            terminal: terminal.clone(),
            server: None,
            starts_until: None,
        })
    }

    /// Restarts the server after each build, until no more builds arrive.
    pub(super) async fn run(
        &mut self,
        mut outcomes: mpsc::Receiver<BuildOutcome>,
    ) -> Result<(), Failure> {
        let mut outcome = outcomes.recv().await;
        while let Some(current) = outcome {
            match current {
                BuildOutcome::Built {
                    program,
                    is_changed,
                } => {
                    if is_changed || self.has_exited() {
                        self.restart(&program).await;
                    }
                }
                BuildOutcome::Failed(_) if self.server.is_some() => {
                    self.note("the build failed; the old server stays");
                }
                BuildOutcome::Failed(_) => self.note("the build failed"),
            }
            outcome = tokio::select! {
                next = outcomes.recv() => next,
                // The next build waits for the end of the server, whose port it needs.
                reason = self.watch() => {
                    self.note(&reason);
                    self.stop().await;
                    outcomes.recv().await
                }
            };
        }
        Ok(())
    }

    /// Stops the server.
    pub(super) async fn close(mut self) {
        self.stop().await;
    }

    async fn restart(&mut self, program: &Program) {
        self.stop().await;
        let mut command = Command::new(&program.path);
        // Standard output of this program belongs to no protocol here, but errors and notes are on standard error.
        command.args(&program.arguments).stdout(Stdio::piped());
        let mut server = match ProcessGroup::spawn(&mut command) {
            Ok(server) => server,
            Err(error) => {
                let name = program.path.to_string_lossy();
                return self.note(&format!("`{name}` cannot be started: {error}"));
            }
        };
        if let (Some(stdout), _) = server.take_output() {
            tokio::spawn(pass_output(stdout, self.terminal.clone()));
        }
        self.server = Some(server);
        self.starts_until = Some(Instant::now() + READY_TIMEOUT);
    }

    /// Reports that the server accepts connections. Completes with the reason to stop what is left of it.
    async fn watch(&mut self) -> String {
        match self.started().await {
            Ok(()) => exited(&mut self.server).await,
            Err(reason) => reason,
        }
    }

    /// Waits until the server accepts connections. The error is the reason why it does not.
    async fn started(&mut self) -> Result<(), String> {
        if let Some(end) = self.starts_until {
            tokio::select! {
                ready = wait_until_ready(&self.url, end) => ready?,
                reason = exited(&mut self.server) => return Err(reason),
            }
            self.starts_until = None;
            self.note(&format!("the server runs at {}", self.url));
        }
        Ok(())
    }

    async fn stop(&mut self) {
        self.starts_until = None;
        // Its child processes would occupy the port.
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }

    fn has_exited(&self) -> bool {
        self.server.is_none()
    }

    fn note(&self, text: &str) {
        self.terminal.print_note(&format!("treenail dev: {text}"));
    }
}

/// Waits until a server exits by itself, and describes that.
async fn exited(server: &mut Option<ProcessGroup>) -> String {
    let Some(server) = server else {
        return std::future::pending().await;
    };
    let status = server.wait().await.map(|status| status.to_string());
    let status = status.unwrap_or_default();
    format!("the server has exited: {status}; the next build starts it again")
}

/// Waits until the server answers at its URL, with a result or any error of its own.
async fn wait_until_ready(url: &str, end: Instant) -> Result<(), String> {
    loop {
        let session = HttpSession::builder(url).limits(ClientLimits::default());
        let session = session.build().map_err(|error| error.to_string())?;
        let request = SessionRequest::new(1, "ping", "{}".to_owned());
        let answer = timeout(ATTEMPT_TIMEOUT, session.request(request)).await;
        match answer {
            Ok(Err(ClientError::Closed(reason) | ClientError::Unreachable(reason)))
                if Instant::now() >= end =>
            {
                return Err(format!(
                    "no connection to {url} within {READY_TIMEOUT:?}: {reason}"
                ));
            }
            Ok(Err(ClientError::Closed(_) | ClientError::Unreachable(_))) => {
                sleep(ATTEMPT_INTERVAL).await;
            }
            _ => return Ok(()),
        }
    }
}

/// Shows the output of a server on standard error.
async fn pass_output(mut output: impl AsyncRead + Unpin, terminal: Terminal) {
    let (mut buffer, mut text) = ([0; 4096], Vec::new());
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        text.extend_from_slice(&buffer[..count]);
        // The next read may have the rest of the last character.
        let last = text.utf8_chunks().last();
        let incomplete = last.map_or(0, |chunk| chunk.invalid().len());
        let rest = text.split_off(text.len() - incomplete);
        terminal.print_build_output(&String::from_utf8_lossy(&text));
        text = rest;
    }
    terminal.print_build_output(&String::from_utf8_lossy(&text));
}
