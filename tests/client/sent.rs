//! Validation of the messages that a client sends, against the official schema of their revision.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Value, json};
use treenail::schema::Revision;

use crate::validator::{check, load, response_definition};

/// Member of the metadata with the revision of a request, in the modern era.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// Definitions of requests and notifications, by revision and method.
static DEFINITIONS: LazyLock<HashMap<(Revision, String), String>> = LazyLock::new(definitions);

/// Validator of the messages that one client sends to a scripted server.
#[derive(Default)]
pub(crate) struct SentMessages {
    /// Revision of the handshake, or of the last request. Before either, nothing is validated.
    revision: Option<Revision>,
    /// Methods of the requests that the server has sent, by the text of their ids.
    questions: HashMap<String, String>,
}

impl SentMessages {
    /// Panics if a message of the client violates the schema of its revision.
    pub(crate) fn check(&mut self, message: &Value) {
        let params = &message["params"];
        let stated = if message["method"] == "initialize" {
            &params["protocolVersion"]
        } else {
            &params["_meta"][REVISION]
        };
        self.set_revision(stated);
        let Some(revision) = self.revision else {
            return;
        };
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(_)) => {
                check(revision, "JSONRPCRequest", message);
                check_method(revision, method, message);
            }
            (Some(method), None) => {
                check(revision, "JSONRPCNotification", message);
                check_method(revision, method, message);
            }
            (None, _) => self.check_response(revision, message),
        }
    }

    /// Records a line of the server, which need not be JSON.
    pub(crate) fn record(&mut self, line: &str) {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        self.set_revision(&message["result"]["protocolVersion"]);
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            self.questions.insert(id.to_string(), method.to_owned());
        }
    }

    fn set_revision(&mut self, name: &Value) {
        let named = name.as_str().and_then(|name| name.parse().ok());
        self.revision = named.or(self.revision);
    }

    fn check_response(&self, revision: Revision, message: &Value) {
        check(revision, response_definition(revision, message), message);
        let question = self.questions.get(&message["id"].to_string());
        let Some(result) = message.get("result") else {
            return;
        };
        let definition = match question.map(String::as_str) {
            Some("elicitation/create") => "ElicitResult",
            Some("sampling/createMessage") => "CreateMessageResult",
            Some("roots/list") => "ListRootsResult",
            Some("ping") => "EmptyResult",
            question => panic!("an answer to {question:?}: {message}"),
        };
        check(revision, definition, result);
    }
}

/// Panics if the parameters violate the definition of the method, or if only other revisions have it.
///
/// Methods of no revision are those of extensions and of tests.
fn check_method(revision: Revision, method: &str, message: &Value) {
    if let Some(definition) = definition_of(revision, method) {
        check(revision, definition, message);
        return;
    }
    // In the modern era, tasks are an extension.
    let is_known = |other: &Revision| definition_of(*other, method).is_some();
    let is_of_other = !method.starts_with("tasks/") && Revision::ALL.iter().any(is_known);
    assert!(!is_of_other, "{revision} has no {method}: {message}");
}

fn definition_of(revision: Revision, method: &str) -> Option<&'static String> {
    DEFINITIONS.get(&(revision, method.to_owned()))
}

fn definitions() -> HashMap<(Revision, String), String> {
    let mut found = HashMap::new();
    for revision in Revision::ALL {
        let (schema, definitions) = load(revision);
        for (name, definition) in schema[definitions].as_object().unwrap() {
            // A union of one notification has its method, too.
            let is_union = ["ClientNotification", "ServerNotification"].contains(&&**name);
            let method = &definition["properties"]["method"]["const"];
            if let Some(method) = method.as_str().filter(|_| !is_union) {
                found.insert((revision, method.to_owned()), name.clone());
            }
        }
    }
    found
}

#[test]
#[should_panic(expected = "not a CallToolRequest of 2026-07-28")]
fn a_call_without_a_name_is_not_valid() {
    let meta = json!({
        REVISION: "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let params = json!({"arguments": {}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    SentMessages::default().check(&call);
}

#[test]
#[should_panic(expected = "not a ElicitResult of 2025-06-18")]
fn an_answer_without_an_action_is_not_valid() {
    let mut sent = SentMessages::default();
    sent.record(r#"{"id":1,"result":{"protocolVersion":"2025-06-18"}}"#);
    sent.record(r#"{"id":7,"method":"elicitation/create"}"#);
    sent.check(&json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
}

#[test]
#[should_panic(expected = "2026-07-28 has no ping")]
fn a_method_of_other_revisions_only_is_not_valid() {
    let params = json!({"_meta": {REVISION: "2026-07-28"}});
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params});
    SentMessages::default().check(&ping);
}
