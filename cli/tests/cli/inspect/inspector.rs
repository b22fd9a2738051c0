//! Running inspector, its answers and its events.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::process::test_server;

/// Running inspector, which is killed on drop.
pub(crate) struct Inspector {
    child: Child,
    pub(super) address: String,
    pub(super) token: String,
}

/// Status, headers and body of a response.
pub(crate) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Inspector {
    pub(super) fn start(target: &[&str]) -> Self {
        Self::start_with(&[&["--no-open"], target].concat(), |_| {})
    }

    pub(crate) fn start_with(arguments: &[&str], configure: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
        command.args(["inspect", "--quiet"]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        configure(&mut command);
        let mut child = command.spawn().unwrap();
        // Otherwise it would hold files of the process open.
        drop(command);
        let mut url = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut url).unwrap();
        let url = url.trim().strip_prefix("http://").unwrap();
        let (address, token) = url.split_once("/#token=").unwrap();
        Self {
            address: address.to_owned(),
            token: token.to_owned(),
            child,
        }
    }

    /// Starts an inspector of the test server, and waits for the connection.
    pub(super) fn connected() -> Self {
        let server = test_server();
        let inspector = Self::start(&["--", server.to_str().unwrap()]);
        inspector.events().wait_for("connected");
        inspector
    }

    /// Sends a request. `headers` are complete lines.
    pub(super) fn send(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let headers = headers.join("\r\n");
        write!(
            stream,
            "{line} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n\r\n{body}"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    pub(super) fn host(&self) -> String {
        format!("host: {}", self.address)
    }

    pub(super) fn bearer(&self) -> String {
        format!("authorization: Bearer {}", self.token)
    }

    pub(super) fn get(&self, path: &str) -> (u16, Value) {
        let line = format!("GET /api/{path}");
        let answer = self.send(&line, &[&self.host(), &self.bearer()], "");
        (answer.status, serde_json::from_str(&answer.body).unwrap())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let line = format!("POST /api/{path}");
        let answer = self.send(&line, &[&self.host(), &self.bearer()], &body.to_string());
        (answer.status, serde_json::from_str(&answer.body).unwrap())
    }

    pub(crate) fn events(&self) -> Events {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, bearer) = (self.host(), self.bearer());
        write!(
            stream,
            "GET /api/events HTTP/1.1\r\n{host}\r\n{bearer}\r\n\r\n"
        )
        .unwrap();
        Events(BufReader::new(stream))
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Stream of events.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    /// Returns the next event.
    pub(crate) fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "no more events");
            if let Ok(event) = serde_json::from_str::<Value>(&line) {
                return event;
            }
        }
    }

    /// Returns the next event with this status, kind or type.
    pub(crate) fn wait_for(&mut self, word: &str) -> Value {
        loop {
            let event = self.next();
            if [&event["status"], &event["kind"], &event["type"]].contains(&&json!(word)) {
                return event;
            }
        }
    }
}
