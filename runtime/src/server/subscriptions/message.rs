//! Messages of subscriptions.

use std::sync::Arc;

use serde_json::{Value, json};
use treenail_schema::{
    CancelledNotification, Notification, PromptListChangedNotification,
    ResourceListChangedNotification, ResourceUpdatedNotification,
    SubscriptionsAcknowledgedNotification, ToolListChangedNotification,
};

use crate::extension::Publication;
use crate::server::subscriptions::Kind;
use crate::wire::write_result;

/// Message of a subscription to its peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SubscriptionMessage {
    /// The subscription has started; the text of the object with the accepted notifications.
    Acknowledged(Box<str>),
    ListChanged(Kind),
    Updated(Arc<str>),
    /// A message of an extension.
    Published(Arc<Publication>),
    /// The result of the request that started the subscription.
    Ended,
    /// Follows [`SubscriptionMessage::Ended`], for clients that wait for this notification.
    Cancelled,
}

impl SubscriptionMessage {
    /// Writes the message. `tag` is the id of the request that started the subscription, `server_info` is for the result.
    pub(crate) fn write(&self, tag: Option<&str>, server_info: &Value) -> Vec<u8> {
        let method = match self {
            Self::Acknowledged(_) => SubscriptionsAcknowledgedNotification::METHOD,
            Self::ListChanged(Kind::Tools) => ToolListChangedNotification::METHOD,
            Self::ListChanged(Kind::Prompts) => PromptListChangedNotification::METHOD,
            Self::ListChanged(Kind::Resources) => ResourceListChangedNotification::METHOD,
            Self::Updated(_) => ResourceUpdatedNotification::METHOD,
            Self::Published(publication) => &publication.method,
            Self::Cancelled => CancelledNotification::METHOD,
            Self::Ended => return result(tag.unwrap_or("null"), server_info),
        };
        let own = match self {
            Self::Acknowledged(accepted) => Some(format!(r#""notifications":{accepted}"#)),
            Self::Updated(uri) => Some(format!(r#""uri":{}"#, json!(**uri))),
            Self::Cancelled => tag.map(|id| format!(r#""requestId":{id}"#)),
            Self::Published(publication) => {
                Some(publication.params.clone()).filter(|params| !params.is_empty())
            }
            Self::ListChanged(_) | Self::Ended => None,
        };
        let mut meta = match self {
            Self::Published(publication) => publication.meta.clone(),
            _ => String::new(),
        };
        if let Some(id) = tag {
            let separator = if meta.is_empty() { "" } else { "," };
            for part in [separator, "\"", SUBSCRIPTION_ID, "\":", id] {
                meta.push_str(part);
            }
        }
        let meta = (!meta.is_empty()).then(|| format!(r#""_meta":{{{meta}}}"#));
        let params: Vec<String> = own.into_iter().chain(meta).collect();
        let params = match &*params {
            [] => String::new(),
            members => format!(r#","params":{{{}}}"#, members.join(",")),
        };
        format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#).into_bytes()
    }
}

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Writes the result that ends a subscription.
fn result(id: &str, server_info: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_result(&mut out, id, |out| {
        let meta = format!(
            r#"{{"{SUBSCRIPTION_ID}":{id},"io.modelcontextprotocol/serverInfo":{server_info}}}"#
        );
        out.extend_from_slice(format!(r#"{{"resultType":"complete","_meta":{meta}}}"#).as_bytes());
    });
    out
}
