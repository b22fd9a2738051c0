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
}

impl HttpSupervisor {
    pub(super) fn new(url: &str, terminal: &Terminal) -> Result<Self, Failure> {
        // Invalid URLs are rejected before the first build.
        HttpSession::builder(url).build()?;
        Ok(Self {
            url: url.to_owned(),
            terminal: terminal.clone(),
            server: None,
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
                () = self.exited() => outcomes.recv().await,
            };
        }
        Ok(())
    }

    /// Stops the server.
    pub(super) async fn close(mut self) {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }

    async fn restart(&mut self, program: &Program) {
        if let Some(old) = self.server.take() {
            old.stop().await;
        }
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
        let ready = tokio::select! {
            ready = wait_until_ready(&self.url) => ready,
            status = server.wait() => Err(match status {
                Ok(status) => format!("the server has exited: {status}"),
                Err(error) => format!("the server cannot be waited for: {error}"),
            }),
        };
        match ready {
            Ok(()) => {
                let url = self.url.clone();
                self.note(&format!("the server runs at {url}"));
                self.server = Some(server);
            }
            Err(reason) => {
                self.note(&reason);
                server.stop().await;
            }
        }
    }

    /// Completes when the server has exited by itself.
    async fn exited(&mut self) {
        match &mut self.server {
            Some(server) => {
                let status = server.wait().await;
                if let Some(server) = self.server.take() {
                    // Its child processes would occupy the port.
                    server.stop().await;
                }
                let status = status.map(|status| status.to_string()).unwrap_or_default();
                self.note(&format!(
                    "the server has exited: {status}; the next build starts it again"
                ));
            }
            None => std::future::pending().await,
        }
    }

    fn has_exited(&self) -> bool {
        self.server.is_none()
    }

    fn note(&self, text: &str) {
        self.terminal.print_note(&format!("treenail dev: {text}"));
    }
}

/// Waits until the server answers at its URL, with a result or any error of its own.
async fn wait_until_ready(url: &str) -> Result<(), String> {
    let end = Instant::now() + READY_TIMEOUT;
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
