//! Access to results and notifications.

use serde_json::Value;
use treenail::client::Notifications;
use treenail::schema::CallToolResult;

/// Returns the text in the first block of a result.
pub(crate) fn text(result: &CallToolResult) -> &str {
    result.content[0].as_text().unwrap()
}

/// Waits for a notification that satisfies `predicate`, and returns its parameters.
pub(crate) async fn wait_for(
    notifications: &mut Notifications,
    method: &str,
    predicate: impl Fn(&Value) -> bool,
) -> Value {
    while let Some(notification) = notifications.next().await {
        let params: Value = serde_json::from_str(&notification.params).unwrap();
        if notification.method == method && predicate(&params) {
            return params;
        }
    }
    panic!("the connection closed before `{method}`");
}
