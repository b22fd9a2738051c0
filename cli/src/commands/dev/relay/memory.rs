//! Memory of the handshake, which a new server repeats.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::message::{ClientRequest, member};

/// Lists of which a restart may change the content.
pub(super) const KINDS: [&str; 3] = ["tools", "prompts", "resources"];

/// Maximum number of subscribed resources; further ones are not repeated.
const MAX_RESOURCES: usize = 1_000;

/// Levels of log messages, from the least severe.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// Requests of the client whose effects a new server needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Memory {
    /// Parameters of `initialize`, once it has been answered.
    pub(super) initialize: Option<String>,
    /// Parameters of the last `server/discover`, once it has been answered.
    pub(super) discover: Option<String>,
    /// Revision that the server chose in the legacy era.
    pub(super) revision: String,
    /// Lists that the server declares.
    pub(super) kinds: Vec<&'static str>,
    /// The client has sent `notifications/initialized`.
    pub(super) is_initialized: bool,
    /// Parameters of `logging/setLevel`.
    pub(super) log_level: Option<String>,
    /// The server itself supports log messages.
    pub(super) has_logging: bool,
    /// Parameters of `resources/subscribe`, by URI.
    pub(super) resources: BTreeMap<String, String>,
}

/// Returns whether a server needs the requests of a method when it replaces another.
pub(super) fn is_noted(method: &str) -> bool {
    let of_session = [
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ];
    matches!(method, "initialize" | "server/discover") || of_session.contains(&method)
}

impl Memory {
    /// Remembers a request that a server has answered. Returns the result for the client.
    pub(super) fn note_result(&mut self, request: &ClientRequest, result: String) -> String {
        match &*request.method {
            "initialize" => self.initialize = Some(request.params.clone()),
            "server/discover" => self.discover = Some(request.params.clone()),
            "logging/setLevel" => {
                self.log_level = Some(request.params.clone());
                return result;
            }
            "resources/subscribe" if self.resources.len() < MAX_RESOURCES => {
                self.resources
                    .insert(uri_of(&request.params), request.params.clone());
                return result;
            }
            "resources/unsubscribe" => {
                self.resources.remove(&uri_of(&request.params));
                return result;
            }
            _ => return result,
        }
        let Ok(mut value) = serde_json::from_str::<Value>(&result) else {
            return result;
        };
        if let Some(revision) = value.get("protocolVersion").and_then(Value::as_str) {
            revision.clone_into(&mut self.revision);
        }
        self.declare_changes(&mut value);
        value.to_string()
    }

    /// Declares in the result of a handshake that lists may change, and that there are log messages: both come true when the
    /// server is restarted.
    fn declare_changes(&mut self, result: &mut Value) {
        let Some(capabilities) = result
            .get_mut("capabilities")
            .and_then(Value::as_object_mut)
        else {
            return;
        };
        self.has_logging = capabilities.contains_key("logging");
        self.kinds = declared_kinds(capabilities);
        for kind in &self.kinds {
            capabilities[*kind]["listChanged"] = true.into();
        }
        capabilities.entry("logging").or_insert_with(|| json!({}));
    }

    /// Returns the requests that bring an initialized session from the state of `known` to this one.
    pub(super) fn changes_since<'a>(
        &'a self,
        known: &'a Self,
    ) -> impl Iterator<Item = (&'static str, &'a str)> {
        let level = self.log_level.as_deref();
        let is_new = self.has_logging && level != known.log_level.as_deref();
        let level = level.filter(|_| is_new);
        let ended = known.resources.iter();
        let ended = ended.filter(|(uri, _)| !self.resources.contains_key(*uri));
        let subscribed = self.resources.iter();
        let subscribed = subscribed.filter(|(uri, _)| !known.resources.contains_key(*uri));
        let level = level.map(|params| ("logging/setLevel", params));
        let ended = ended.map(|(_, params)| ("resources/unsubscribe", &**params));
        let subscribed = subscribed.map(|(_, params)| ("resources/subscribe", &**params));
        level.into_iter().chain(ended).chain(subscribed)
    }

    /// Returns whether the client wants log messages of the level `error`, in the legacy era.
    pub(super) fn wants_errors(&self) -> bool {
        let level = self.log_level.as_deref();
        let level = level.and_then(|params| member(params, &["level"]));
        self.is_initialized && level.is_none_or(|level| includes_errors(&level))
    }
}

/// Returns the lists that a server declares.
pub(super) fn declared_kinds(capabilities: &Map<String, Value>) -> Vec<&'static str> {
    let declared = |kind: &&str| capabilities.get(*kind).is_some_and(Value::is_object);
    KINDS.into_iter().filter(declared).collect()
}

/// Returns whether messages of the level `error` pass a minimum level.
pub(super) fn includes_errors(level: &Value) -> bool {
    let place = LEVELS
        .iter()
        .position(|known| Some(*known) == level.as_str());
    place.is_some_and(|place| place <= 4)
}

fn uri_of(params: &str) -> String {
    let uri = member(params, &["uri"]);
    uri.as_ref()
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, params: &Value) -> ClientRequest {
        ClientRequest {
            id: "1".to_owned(),
            method: method.to_owned(),
            params: params.to_string(),
        }
    }

    #[test]
    fn declared_lists_may_change() {
        let mut memory = Memory::default();
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "prompts": {"listChanged": false}}});
        let noted = memory.note_result(&request("initialize", &json!({})), result.to_string());
        let noted: Value = serde_json::from_str(&noted).unwrap();
        let expected = json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true}, "logging": {}});
        assert_eq!(noted["capabilities"], expected);
        assert_eq!(memory.kinds, ["tools", "prompts"]);
        assert!(!memory.has_logging);
    }

    #[test]
    fn subscribed_resources_and_the_level_are_remembered() {
        let mut memory = Memory {
            is_initialized: true,
            ..Memory::default()
        };
        assert!(memory.wants_errors(), "without a level, the server chooses");
        for (method, params) in [
            ("resources/subscribe", json!({"uri": "a://b"})),
            ("resources/subscribe", json!({"uri": "c://d"})),
            ("resources/unsubscribe", json!({"uri": "a://b"})),
            ("logging/setLevel", json!({"level": "alert"})),
        ] {
            memory.note_result(&request(method, &params), "{}".to_owned());
        }
        assert_eq!(memory.resources.keys().collect::<Vec<_>>(), ["c://d"]);
        assert!(!memory.wants_errors());
    }
}
