//! Server process for the suite.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, thread};

/// Server that stops on drop.
pub(crate) struct ConformanceServer {
    process: Child,
    url: String,
}

impl ConformanceServer {
    /// Starts the server on a free port, and reads its URL from its output.
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
        let server = Self { process, url };
        if server.url.starts_with("http://") {
            Ok(server)
        } else {
            Err(io::Error::other("the server did not print its URL"))
        }
    }

    /// Starts `treenail proxy --tasks` in front of the server at the URL `upstream`. The name of the only server is no prefix.
    ///
    /// `beside` is a program in the folder of `treenail`.
    pub(crate) fn start_proxy(beside: &Path, upstream: &str, revision: &str) -> io::Result<Self> {
        let program = beside.with_file_name(format!("treenail{}", env::consts::EXE_SUFFIX));
        let mut process = Command::new(&program)
            .args(["proxy", "--http", "127.0.0.1:0", "--url", upstream])
            .args(["--protocol-version", revision, "--tasks"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                let program = program.display();
                io::Error::other(format!(
                    "{program}: {error}; run `cargo build --workspace --bins`"
                ))
            })?;
        let notes = process.stderr.take();
        let mut server = Self {
            process,
            url: String::new(),
        };
        let mut notes = BufReader::new(notes.ok_or(io::ErrorKind::BrokenPipe)?);
        let mut note = String::new();
        while notes.read_line(&mut note)? > 0 {
            if let Some((_, url)) = note.split_once("serving ") {
                url.trim_end().clone_into(&mut server.url);
                thread::spawn(move || io::copy(&mut notes, &mut io::sink()));
                return Ok(server);
            }
        }
        Err(io::Error::other(format!("the proxy did not serve: {note}")))
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
