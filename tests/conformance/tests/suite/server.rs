//! Server process for the suite.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Server that stops on drop.
pub(crate) struct ConformanceServer {
    process: Child,
    url: String,
}

impl ConformanceServer {
    /// Starts the server on a free port, and reads its URL from its output.
    pub(crate) fn start(program: &Path) -> io::Result<Self> {
        Self::spawn(&mut Command::new(program))
    }

    /// Starts a proxy in front of the server at the URL `upstream`.
    pub(crate) fn start_proxy(program: &Path, upstream: &str, revision: &str) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.env("UPSTREAM", upstream).env("REVISION", revision);
        Self::spawn(&mut command)
    }

    fn spawn(command: &mut Command) -> io::Result<Self> {
        let mut process = command
            .env("PORT", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut url)?;
        }
        url.truncate(url.trim_end().len());
        let server = Self { process, url };
        if server.url.starts_with("http://") {
            Ok(server)
        } else {
            Err(io::Error::other("the server did not print its URL"))
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for ConformanceServer {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
