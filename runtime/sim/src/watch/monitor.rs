//! Rules of the messages of one connection, or of one exchange over HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::waits_for_events;
use crate::world::{Unanswered, World};

/// Time that a message may need from a call to the connection after its cancellation, in milliseconds.
const CANCEL_GRACE: u64 = 50;

/// Messages of one connection, as the server receives and sends them.
pub(crate) struct Monitor {
    world: Arc<World>,
    /// The connection, for the transcript.
    name: Arc<str>,
    rules: Rules,
    open: BTreeMap<String, Open>,
    /// Requests of the server that the client has not answered.
    asked: BTreeSet<String>,
}

/// Rules that apply to a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// Responses and progress must be those of requests of this connection.
    pub(crate) own_requests: bool,
    /// Requests must be answered before the end.
    pub(crate) complete: bool,
    /// Requests must be answered in time, and nothing may be sent for cancelled ones.
    pub(crate) timely: bool,
}

/// Request without a response.
struct Open {
    method: String,
    tool: Option<String>,
    token: Option<String>,
    progress: Option<f64>,
    since: u64,
    cancelled: Option<u64>,
}

impl Monitor {
    pub(crate) fn new(world: &Arc<World>, name: &Arc<str>, rules: Rules) -> Self {
        Self {
            world: Arc::clone(world),
            name: Arc::clone(name),
            rules,
            open: BTreeMap::new(),
            asked: BTreeSet::new(),
        }
    }

    /// Notes a message of the client.
    pub(crate) fn received(&mut self, text: &[u8]) {
        self.log('>', text);
        for message in messages(text) {
            self.receive(&message);
        }
    }

    fn receive(&mut self, message: &Value) {
        let id = message.get("id").map(Value::to_string);
        let params = &message["params"];
        match (message["method"].as_str(), id) {
            (Some(method), Some(id)) => {
                let token = params["_meta"].get("progressToken");
                let open = Open {
                    method: method.to_owned(),
                    tool: params["name"].as_str().map(str::to_owned),
                    token: token.map(Value::to_string),
                    progress: None,
                    since: self.world.now(),
                    cancelled: None,
                };
                self.open.insert(id, open);
            }
            (Some("notifications/cancelled"), None) => {
                let now = self.world.now();
                if let Some(open) = self.open.get_mut(&params["requestId"].to_string()) {
                    open.cancelled.get_or_insert(now);
                    self.check_patience(&params["requestId"].to_string());
                }
            }
            (None, Some(id)) => {
                self.asked.remove(&id);
            }
            _ => {}
        }
    }

    /// Notes a message of the server.
    pub(crate) fn sent(&mut self, text: &[u8]) {
        self.log('<', text);
        let messages = messages(text);
        if messages.is_empty() && !text.is_empty() {
            self.violation("a message of the server is not JSON-RPC");
        }
        for message in messages {
            self.send(&message);
        }
    }

    fn send(&mut self, message: &Value) {
        let id = message.get("id").filter(|id| !id.is_null());
        let id = id.map(Value::to_string);
        match (message["method"].as_str(), id) {
            (Some(_), Some(id)) => {
                if !self.asked.insert(id.clone()) {
                    self.violation(&format!(
                        "the server uses the id {id} for two open requests"
                    ));
                }
            }
            (Some("notifications/progress"), None) => self.progress(&message["params"]),
            (Some(_), None) => {}
            (None, Some(id)) => self.respond(&id),
            // An error of a message whose id could not be read.
            (None, None) => self.open.clear(),
        }
    }

    fn respond(&mut self, id: &str) {
        self.check_patience(id);
        match self.open.remove(id) {
            Some(open) => self.check_cancelled(&open, "a response"),
            None if self.rules.own_requests => {
                self.violation(&format!("a response to {id}, which is not open"));
            }
            None => {}
        }
    }

    fn progress(&mut self, params: &Value) {
        let token = Some(params["progressToken"].to_string());
        let Some((id, open)) = self.open.iter_mut().find(|(_, open)| open.token == token) else {
            if self.rules.own_requests {
                self.violation("progress of a request that is not open");
            }
            return;
        };
        let progress = params["progress"].as_f64();
        let last = std::mem::replace(&mut open.progress, progress);
        if last.is_some() && progress <= last {
            let text = format!("the progress of {id} does not increase: {last:?}, {progress:?}");
            self.violation(&text);
            return;
        }
        let open = Open {
            method: open.method.clone(),
            tool: None,
            token: None,
            progress: None,
            since: open.since,
            cancelled: open.cancelled,
        };
        self.check_cancelled(&open, "progress");
    }

    fn check_cancelled(&self, open: &Open, what: &str) {
        let since = open.cancelled.map(|time| self.quiet_since(time));
        let is_late = since.is_some_and(|since| self.world.now() > since + CANCEL_GRACE);
        if is_late && self.rules.timely {
            let method = &open.method;
            self.violation(&format!("{what} of a cancelled `{method}`"));
        }
    }

    /// Checks that a request is not older than a client has to wait.
    fn check_patience(&self, id: &str) {
        let Some(open) = self.open.get(id).filter(|_| self.rules.timely) else {
            return;
        };
        let waited = self
            .world
            .now()
            .saturating_sub(self.quiet_since(open.since));
        if waited > self.world.options.patience && !waits_for_events(&open.method) {
            let method = &open.method;
            self.violation(&format!("`{method}` without a response for {waited} ms"));
        }
    }

    /// Returns the later of `time` and the end of the last fault that affects all connections.
    fn quiet_since(&self, time: u64) -> u64 {
        time.max(self.world.quiet_since())
    }

    /// Notes the end of the messages of the server. `complete` is false if the client or the connection ended it.
    pub(crate) fn ended(&mut self, complete: bool) {
        for id in self.open.keys().cloned().collect::<Vec<_>>() {
            self.check_patience(&id);
        }
        let unanswered = self.open.values().find(|open| open.cancelled.is_none());
        if let Some(open) = unanswered.filter(|_| complete && self.rules.complete) {
            let method = &open.method;
            self.violation(&format!(
                "the stream of `{method}` ended without a response"
            ));
        }
        for open in std::mem::take(&mut self.open).into_values() {
            if !waits_for_events(&open.method) {
                self.world.note_unanswered(Unanswered {
                    connection: Arc::clone(&self.name),
                    name: open.tool.unwrap_or(open.method),
                });
            }
        }
    }

    /// Notes that something that is not a message answers all requests, such as a status of HTTP.
    pub(crate) fn answered(&mut self, text: &str) {
        self.log('<', text.as_bytes());
        self.open.clear();
    }

    fn log(&self, direction: char, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        self.world
            .log(format!("[{}] {direction} {text}", self.name));
    }

    fn violation(&self, text: &str) {
        self.world
            .violation(format!("connection {}: {text}", self.name));
    }
}

/// Returns the messages of a text: one, or those of a batch.
pub(super) fn messages(text: &[u8]) -> Vec<Value> {
    match serde_json::from_slice(text) {
        Ok(Value::Array(messages)) => messages,
        Ok(message @ Value::Object(_)) => vec![message],
        _ => Vec::new(),
    }
}
