//! Delivery of notifications to their receivers: a request, a subscription, and all listeners.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Deserialize;
use treenail_schema::{ProgressNotificationParams, ProgressToken, RequestId};

use super::{Router, lock};
use crate::client::protocol::broadcast::ServerNotification;
use crate::wire::{is_heavier, read_json};

impl Router {
    pub(super) fn deliver_progress(&self, params: &str) {
        let too_large = is_heavier(params, self.limits.decoded_bytes);
        let params = (!too_large).then(|| read_json(params).ok()).flatten();
        let Some::<ProgressNotificationParams>(params) = params else {
            tracing::debug!("dropped a malformed progress notification");
            return;
        };
        let ProgressToken::Number(token) = params.progress_token else {
            return;
        };
        let sink = lock(&self.progress).get(&token).cloned();
        if let Some(sink) = sink {
            // A panic of the callback must not end the connection.
            if catch_unwind(AssertUnwindSafe(|| sink(params))).is_err() {
                tracing::error!("a progress callback panicked");
            }
        }
    }

    /// Passes a notification to its subscription, if it has one, and to all listeners.
    pub(super) fn publish(&self, method: &str, params: &str) {
        let subscription = subscription_of(params).and_then(|id| {
            let subscriptions = lock(&self.subscriptions);
            subscriptions.get(&id).cloned()
        });
        if subscription.is_none() && !self.broadcast.has_listeners() {
            return;
        }
        let notification = Arc::new(ServerNotification {
            method: method.to_owned(),
            params: params.to_owned(),
        });
        if let Some(subscription) = subscription {
            subscription.push(Arc::clone(&notification));
        }
        self.broadcast.send(&notification);
    }
}

/// Returns the id of the subscription that a notification belongs to.
fn subscription_of(params: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct Tagged {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
        subscription_id: RequestId,
    }

    // Most notifications belong to none, and searching for the key is cheaper than parsing them.
    if !params.contains("io.modelcontextprotocol/subscriptionId") {
        return None;
    }
    match serde_json::from_str::<Tagged>(params)
        .ok()?
        .meta
        .subscription_id
    {
        RequestId::Number(id) => Some(id),
        RequestId::String(id) => id.parse().ok(),
    }
}
