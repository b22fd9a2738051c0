//! What a server tells, as the tests look at it.

use serde_json::Value;
use tokio_stream::StreamExt;
use treenail::client::Notifications;
use treenail::schema::CallToolResult;

/// The text that a result begins with.
pub(crate) fn text(result: &CallToolResult) -> &str {
    result.content[0].as_text().unwrap()
}

/// Waits for a notification of which `is_it` holds, and brings its parameters.
pub(crate) async fn wait_for(
    told: &mut Notifications,
    method: &str,
    is_it: impl Fn(&Value) -> bool,
) -> Value {
    while let Some(notification) = told.next().await {
        let params: Value = serde_json::from_str(&notification.params).unwrap();
        if notification.method == method && is_it(&params) {
            return params;
        }
    }
    panic!("the connection has ended without `{method}`");
}
