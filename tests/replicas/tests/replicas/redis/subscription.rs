//! Open `subscriptions/listen` request.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use crate::process::Replica;
use crate::request::{TEST_TIMEOUT, send};

pub(crate) const TOOLS: &str = "notifications/tools/list_changed";

/// Stream of notifications.
pub(crate) struct Subscription {
    stream: BufReader<TcpStream>,
}

impl Subscription {
    /// Subscribes to the list of tools and to two notes.
    pub(crate) fn start(replica: &Replica) -> Self {
        let notes = ["notes://1", "notes://2"];
        let filter = json!({"toolsListChanged": true, "resourceSubscriptions": notes});
        let params = json!({"notifications": filter});
        let mut subscription = Self {
            stream: BufReader::new(send(replica, "subscriptions/listen", params)),
        };
        let first = subscription.next_notification();
        assert_eq!(
            first, "notifications/subscriptions/acknowledged",
            "SRV-SUB-02"
        );
        subscription
    }

    /// Returns the URI of the next update, or the method of any other notification.
    pub(crate) fn next_notification(&mut self) -> String {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            assert!(Instant::now() < deadline, "no notification arrived in time");
            let mut line = String::new();
            let length = self.stream.read_line(&mut line);
            let length = length.expect("no notification arrived in time");
            assert_ne!(length, 0, "the stream has ended");
            if let Some(message) = line.strip_prefix("data: ") {
                let message: Value = serde_json::from_str(message).unwrap();
                let uri = message["params"]["uri"].as_str();
                return uri.or(message["method"].as_str()).unwrap().to_owned();
            }
        }
    }

    /// Reads notifications until `expected`.
    pub(crate) fn wait_for(&mut self, expected: &str) {
        while self.next_notification() != expected {}
    }
}
