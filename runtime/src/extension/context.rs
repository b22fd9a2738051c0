//! Extensions in the context of a call.

use serde::Serialize;
use treenail_schema::{JsonObject, Method};

use super::gate::{declared, require};
use super::identifier::OFFICIAL;
use crate::context::Context;
use crate::wire::{RpcError, raw_json};

impl Context {
    /// Returns the settings with which the client has declared the [extension](crate::Extension) `id` for this call, unchanged.
    /// They are of the client, so do not trust them.
    ///
    /// ```
    /// use treenail::Context;
    ///
    /// async fn chart(cx: &Context) -> &'static str {
    ///     match cx.client_extension("io.modelcontextprotocol/ui") {
    ///         Some(settings) if settings.contains_key("mimeTypes") => "a chart",
    ///         _ => "a table",
    ///     }
    /// }
    /// ```
    pub fn client_extension(&self, id: &str) -> Option<&JsonObject> {
        declared(self.client_capabilities(), id)
    }

    /// Fails if the client has not declared the [extension](crate::Extension) `id` for this call.
    ///
    /// # Errors
    ///
    /// The error of the protocol for a missing capability (-32021), which names the extension. If a tool
    /// returns it with `?`, it is the response to a request of revision 2026-07-28.
    pub fn require_client_extension(&self, id: &str) -> Result<(), RpcError> {
        let required = require(self.client_capabilities(), id);
        if let Err(error) = &required {
            if self.state().peer.revision().is_modern() {
                self.state().add_named_fault(error.clone());
            }
        }
        required
    }

    /// Sends a notification of the [extension](crate::Extension) `id`, whose parameters serialize to an object. It is sent when it
    /// is awaited, before the response of the call. After the end of the call, it is not sent.
    ///
    /// # Errors
    ///
    /// -32021 if the client has not declared the extension. -32603 if `method` is a message of the protocol itself, or the
    /// parameters are not an object.
    pub async fn notify_extension(
        &self,
        id: &str,
        method: &str,
        params: &(impl Serialize + Sync),
    ) -> Result<(), RpcError> {
        require(self.client_capabilities(), id)?;
        let invalid = |problem: &str| {
            RpcError::internal(format!("the notification `{method}` of `{id}` {problem}"))
        };
        if Method::from_name(method).is_some() && !id.starts_with(OFFICIAL) {
            return Err(invalid("has the name of a message of the protocol itself"));
        }
        let params = raw_json(params).map_err(|error| invalid(&error.to_string()))?;
        if !params.get().starts_with('{') {
            return Err(invalid("has parameters that are not an object"));
        }
        let method = serde_json::Value::from(method);
        let message = format!(
            r#"{{"jsonrpc":"2.0","method":{method},"params":{}}}"#,
            params.get()
        );
        self.state().notify_message(message.into_bytes()).await;
        Ok(())
    }
}
