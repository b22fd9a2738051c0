//! Subscriptions of the client in the modern era, which survive restarts.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::super::message::{ClientRequest, member, notification};

/// Key of the id of a subscription, in `_meta` of its messages.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Notifications of list changes: member of the filter, and method.
const LIST_CHANGES: [(&str, &str); 3] = [
    ("toolsListChanged", "notifications/tools/list_changed"),
    ("promptsListChanged", "notifications/prompts/list_changed"),
    (
        "resourcesListChanged",
        "notifications/resources/list_changed",
    ),
];

/// Method of the first message of a subscription.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Open subscriptions, by the id that the client chose.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    open: HashMap<String, Subscription>,
    /// Id that the client chose, by the id of the request to the running server.
    by_server_id: HashMap<i64, String>,
}

#[derive(Debug)]
struct Subscription {
    request: ClientRequest,
    is_acknowledged: bool,
}

impl Subscriptions {
    pub(super) fn insert(&mut self, request: ClientRequest) {
        let id = request.id.clone();
        let is_acknowledged = false;
        let subscription = Subscription {
            request,
            is_acknowledged,
        };
        self.open.insert(id, subscription);
    }

    /// Connects a subscription with a request to the running server.
    pub(super) fn connect(&mut self, id: &str, server_id: i64) {
        self.by_server_id.insert(server_id, id.to_owned());
    }

    /// Forgets the requests to a former server. Returns the requests for a new one.
    pub(super) fn reconnect(&mut self) -> Vec<ClientRequest> {
        self.by_server_id.clear();
        self.open.values().map(|it| it.request.clone()).collect()
    }

    /// Ends a subscription. Returns whether there was one.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        self.by_server_id.retain(|_, known| known != id);
        self.open.remove(id).is_some()
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// Returns the message for the client in place of a notification of the running server, `None` if it is not for the
    /// client, or the notification itself if it belongs to no subscription.
    pub(super) fn translate(&mut self, method: &str, params: &str) -> Option<String> {
        let Some(server_id) = member(params, &["_meta", SUBSCRIPTION_ID]) else {
            return Some(notification(method, params));
        };
        let id = self.by_server_id.get(&server_id.as_i64()?)?;
        let subscription = self.open.get_mut(id)?;
        if method == ACKNOWLEDGED {
            let honoured = member(params, &["notifications"]);
            return subscription.acknowledge(honoured.as_ref());
        }
        let mut params: Value = serde_json::from_str(params).ok()?;
        params["_meta"][SUBSCRIPTION_ID] = serde_json::from_str(id).ok()?;
        Some(notification(method, &params.to_string()))
    }

    /// Acknowledges a subscription that the server does not support. Its list changes are sent at restarts.
    pub(super) fn acknowledge(&mut self, id: &str) -> Option<String> {
        self.open.get_mut(id)?.acknowledge(None)
    }

    /// Returns the notifications of all list changes.
    pub(super) fn list_changes(&self) -> Vec<String> {
        let acknowledged = self.open.values().filter(|it| it.is_acknowledged);
        let changes = acknowledged.flat_map(|subscription| {
            let meta = subscription.meta();
            let methods = LIST_CHANGES
                .iter()
                .filter(|(name, _)| subscription.wants(name));
            methods
                .map(move |(_, method)| notification(method, &json!({"_meta": meta}).to_string()))
        });
        changes.collect()
    }
}

impl Subscription {
    /// Returns the first message of the subscription: the filter of the server, and the list changes of restarts. Returns
    /// `None` after a restart.
    fn acknowledge(&mut self, honoured: Option<&Value>) -> Option<String> {
        if std::mem::replace(&mut self.is_acknowledged, true) {
            return None;
        }
        let mut filter = honoured.and_then(Value::as_object).cloned();
        let filter = filter.get_or_insert_with(Map::new);
        for (name, _) in LIST_CHANGES {
            if self.wants(name) {
                filter.insert(name.to_owned(), true.into());
            }
        }
        let params = json!({"notifications": filter, "_meta": self.meta()});
        Some(notification(ACKNOWLEDGED, &params.to_string()))
    }

    fn wants(&self, name: &str) -> bool {
        member(&self.request.params, &["notifications", name]) == Some(Value::Bool(true))
    }

    fn meta(&self) -> Value {
        let id: Value = serde_json::from_str(&self.request.id).unwrap_or_default();
        json!({SUBSCRIPTION_ID: id})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscribed() -> Subscriptions {
        let mut subscriptions = Subscriptions::default();
        subscriptions.insert(ClientRequest {
            id: "\"sub\"".to_owned(),
            method: "subscriptions/listen".to_owned(),
            params: json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["a://b"]}}).to_string(),
        });
        subscriptions.connect("\"sub\"", 7);
        subscriptions
    }

    fn params_of(message: &str) -> Value {
        serde_json::from_str::<Value>(message).unwrap()["params"].clone()
    }

    #[test]
    fn ids_are_translated_and_list_changes_added() {
        let mut subscriptions = subscribed();
        assert!(
            subscriptions.list_changes().is_empty(),
            "nothing precedes the acknowledgement"
        );
        let meta = json!({SUBSCRIPTION_ID: 7});
        let acknowledged =
            json!({"notifications": {"resourceSubscriptions": ["a://b"]}, "_meta": meta});
        let message = subscriptions.translate(ACKNOWLEDGED, &acknowledged.to_string());
        let expected = json!({
            "notifications": {"resourceSubscriptions": ["a://b"], "toolsListChanged": true},
            "_meta": {SUBSCRIPTION_ID: "sub"},
        });
        assert_eq!(params_of(&message.unwrap()), expected, "SRV-SUB-02");
        let updated = json!({"uri": "a://b", "_meta": meta}).to_string();
        let message = subscriptions.translate("notifications/resources/updated", &updated);
        let expected = json!({"uri": "a://b", "_meta": {SUBSCRIPTION_ID: "sub"}});
        assert_eq!(params_of(&message.unwrap()), expected, "SRV-SUB-05");
        assert_eq!(subscriptions.list_changes().len(), 1, "SRV-SUB-01");
    }

    #[test]
    fn a_second_acknowledgement_is_not_sent() {
        let mut subscriptions = subscribed();
        assert!(subscriptions.acknowledge("\"sub\"").is_some());
        assert_eq!(subscriptions.reconnect().len(), 1);
        subscriptions.connect("\"sub\"", 8);
        let acknowledged = json!({"notifications": {}, "_meta": {SUBSCRIPTION_ID: 8}}).to_string();
        assert_eq!(subscriptions.translate(ACKNOWLEDGED, &acknowledged), None);
        // Messages of a former server are dropped.
        let stale = json!({"_meta": {SUBSCRIPTION_ID: 7}}).to_string();
        assert_eq!(
            subscriptions.translate("notifications/tools/list_changed", &stale),
            None
        );
    }
}
