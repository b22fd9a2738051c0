//! An open `subscriptions/listen`.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use crate::process::Replica;
use crate::request::{PATIENCE, send};

pub(crate) const TOOLS: &str = "notifications/tools/list_changed";

pub(crate) struct Listening {
    stream: BufReader<TcpStream>,
}

impl Listening {
    /// Listens to the list of tools and to two notes.
    pub(crate) fn start(replica: &Replica) -> Self {
        let notes = ["notes://1", "notes://2"];
        let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": notes});
        let params = json!({"notifications": wanted});
        let mut listening = Self {
            stream: BufReader::new(send(replica, "subscriptions/listen", params)),
        };
        let first = listening.hear();
        assert_eq!(
            first, "notifications/subscriptions/acknowledged",
            "SRV-SUB-02"
        );
        listening
    }

    /// The next notification: the URI of an update, the method of all others.
    pub(crate) fn hear(&mut self) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "there is nothing to hear");
            let mut line = String::new();
            let length = self.stream.read_line(&mut line);
            let length = length.expect("there is something to hear in time");
            assert_ne!(length, 0, "the stream goes on");
            if let Some(message) = line.strip_prefix("data: ") {
                let message: Value = serde_json::from_str(message).unwrap();
                let uri = message["params"]["uri"].as_str();
                return uri.or(message["method"].as_str()).unwrap().to_owned();
            }
        }
    }

    /// Hears until it is `wanted`.
    pub(crate) fn wait_for(&mut self, wanted: &str) {
        while self.hear() != wanted {}
    }
}
