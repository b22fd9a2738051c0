//! HTTP servers as child processes.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use treenail::McpClient;
use treenail::client::{HttpClientBuilderExt as _, McpClientBuilder};

use crate::installed::{print_line, program};

/// HTTP server that stops on drop.
pub(crate) struct HttpServer {
    _process: Child,
    /// Host and port.
    address: String,
    path: String,
}

impl HttpServer {
    /// Starts a program on Node.js and waits until it listens. `path` is the path of its endpoint.
    pub(crate) async fn start(server: &Path, argument: &str, path: &str) -> Self {
        let mut process = Command::new("node")
            .arg("--import")
            .arg(program("loopback.mjs"))
            .arg(server)
            .arg(argument)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap()).lines();
        let port = loop {
            let line = stderr.next_line().await.unwrap();
            let line = line.expect("the server exited before it listened");
            if let Some(port) = line.strip_prefix("listening on ") {
                break port.to_owned();
            }
        };
        // Print further output if the test fails.
        tokio::spawn(async move {
            while let Ok(Some(line)) = stderr.next_line().await {
                print_line(&line);
            }
        });
        Self {
            _process: process,
            address: format!("127.0.0.1:{port}"),
            path: path.to_owned(),
        }
    }

    /// Returns its host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns a builder for a new session with this server.
    pub(crate) fn builder(&self) -> McpClientBuilder {
        let (address, path) = (&self.address, &self.path);
        McpClient::builder().url(format!("http://{address}{path}"))
    }
}
