//! Server as a child process that may be killed at any time.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::Pid;
use serde_json::{Value, json};

/// Server over standard input and output.
pub(crate) struct Worker {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Worker {
    /// Starts a server that is killed at a point, or not at all with zero.
    pub(crate) fn start(store: &str, effects: &Path, kill_at: u64) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_worker"));
        command
            .env("STORE", store)
            .env("EFFECTS", effects)
            .env("KILL_AT", kill_at.to_string());
        Self::spawn(command.stderr(Stdio::null()))
    }

    /// Starts a server with a command.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        Self {
            input: process.stdin.take(),
            output: BufReader::new(process.stdout.take().unwrap()),
            process,
            requests: 0,
        }
    }

    pub(crate) fn id(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Returns the log, once.
    pub(crate) fn log(&mut self) -> BufReader<ChildStderr> {
        BufReader::new(self.process.stderr.take().unwrap())
    }

    /// Returns whether the process is stopped.
    pub(crate) fn is_stopped(id: Pid) -> bool {
        let path = format!("/proc/{}/stat", id.as_raw_nonzero());
        let status = fs::read_to_string(path).unwrap_or_default();
        let state = status.rsplit_once(") ").map(|(_, rest)| rest);
        state.is_some_and(|state| state.starts_with('T'))
    }

    /// Sends a request, and returns its response, or `None` if the server was killed before.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Option<Value> {
        let id = self.send(method, params)?;
        self.response(id)
    }

    /// Sends a request, and returns its id.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> Option<u64> {
        self.requests += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {"form": {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            },
        });
        let id = self.requests;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.input
            .as_mut()?
            .write_all(format!("{request}\n").as_bytes())
            .ok()?;
        Some(id)
    }

    /// Returns the response to a request.
    pub(crate) fn response(&mut self, id: u64) -> Option<Value> {
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).ok()?;
            if length == 0 {
                return None;
            }
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return Some(message);
            }
        }
    }

    /// Waits for the end of a killed server.
    pub(crate) fn reap(mut self) {
        use std::os::unix::process::ExitStatusExt;

        let status = self.process.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "the server was killed: {status}");
    }

    /// Closes the input, and returns whether the server was killed while it ended.
    pub(crate) fn stop(mut self) -> bool {
        drop(self.input.take());
        !self.process.wait().unwrap().success()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A failed test leaves a server that runs.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
