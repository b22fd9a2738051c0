//! The server while the suite runs.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that runs until this is dropped.
pub(crate) struct Running {
    process: Child,
    url: String,
}

impl Running {
    /// Starts the server at a port that is free, and reads from it where it is.
    pub(crate) fn start(program: &Path) -> io::Result<Self> {
        let mut process = Command::new(program)
            .env("PORT", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut url)?;
        }
        url.truncate(url.trim_end().len());
        let running = Self { process, url };
        if running.url.starts_with("http://") {
            Ok(running)
        } else {
            Err(io::Error::other("the server did not say where it listens"))
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
