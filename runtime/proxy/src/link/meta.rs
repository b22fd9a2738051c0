//! `_meta` of the requests for a server, and of its notifications.

use std::fmt::Write;

use serde_json::Value;
use treenail_runtime::Context;
use treenail_schema::NotificationMetaObject;

use super::Link;
use super::capabilities::passed_capabilities;

/// Member with the token of progress notifications.
const PROGRESS_TOKEN: &str = "progressToken";

/// Prefix of the members of `_meta` that belong to one hop.
pub(crate) const RESERVED: &str = "io.modelcontextprotocol/";

/// Returns the members of the `_meta` of a notification that do not belong to one hop, if there are any.
pub(crate) fn passed_notification_meta(
    mut meta: NotificationMetaObject,
) -> Option<NotificationMetaObject> {
    meta.subscription_id = None;
    meta.extra.retain(|key, _| !key.starts_with(RESERVED));
    (!meta.extra.is_empty()).then_some(meta)
}

impl Link {
    /// Writes the members of `_meta`: those of the caller and of the proxy, and those of this connection.
    pub(super) fn push_meta(&self, params: &mut String, id: i64, context: &Context) {
        // Writing to a string cannot fail.
        let _ = write!(params, "\"{PROGRESS_TOKEN}\":{id}");
        let mut members = context.meta();
        if let Some(meta) = &self.meta {
            members.extend(meta(context).into_inner());
        }
        for (key, value) in members.iter() {
            if key != PROGRESS_TOKEN && !key.starts_with(RESERVED) {
                let _ = write!(params, ",{}:{value}", Value::from(&**key));
            }
        }
        if self.revision.is_modern() {
            self.push_modern_meta(params, context);
        }
    }

    /// Writes the members that describe a client of the modern era.
    fn push_modern_meta(&self, params: &mut String, context: &Context) {
        let capabilities = passed_capabilities(context.client_capabilities());
        let capabilities = serde_json::to_string(&capabilities).unwrap_or_else(|_| "{}".to_owned());
        let _ = write!(
            params,
            ",\"{RESERVED}protocolVersion\":\"{}\",\"{RESERVED}clientCapabilities\":{capabilities}",
            self.revision
        );
        if let Some(info) = context
            .client_info()
            .and_then(|info| serde_json::to_string(info).ok())
        {
            let _ = write!(params, ",\"{RESERVED}clientInfo\":{info}");
        }
        if let Some(level) = context.log_level() {
            let _ = write!(
                params,
                ",\"{RESERVED}logLevel\":{}",
                Value::from(level.as_str())
            );
        }
    }
}
