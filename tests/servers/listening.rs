//! Servers that listen for HTTP, each in a process of its own.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use treenail::McpClient;
use treenail::client::McpClientBuilder;

use crate::installed::{program, show};

/// A server that listens, until this is dropped.
pub(crate) struct Listening {
    _process: Child,
    url: String,
}

impl Listening {
    /// Starts a program for Node.js, and waits until it listens; `path` is that of its endpoint.
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
            let line = line.expect("the server says where it listens");
            if let Some(port) = line.strip_prefix("listening on ") {
                break port.to_owned();
            }
        };
        // What it says later is shown if the test fails.
        tokio::spawn(async move {
            while let Ok(Some(line)) = stderr.next_line().await {
                show(&line);
            }
        });
        Self {
            _process: process,
            url: format!("http://127.0.0.1:{port}{path}"),
        }
    }

    /// A session of its own with this server.
    pub(crate) fn builder(&self) -> McpClientBuilder {
        McpClient::builder().url(&*self.url)
    }
}
