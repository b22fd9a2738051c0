//! Settings of a connection that users change: subscriptions, roots, and the level of log messages.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use serde_json::json;
use tokio::task::AbortHandle;
use tokio_stream::Stream;
use treenail::ClientError;
use treenail::McpClientSession;
use treenail::schema::{LoggingLevel, Root, RootsListChangedNotification, SubscriptionFilter};

use super::Link;

/// Maximum number of subscribed resources.
const MAX_SUBSCRIPTIONS: usize = 64;

impl Link {
    /// Subscribes to a resource, or ends a subscription.
    pub(crate) async fn set_subscribed(&self, uri: &str, active: bool) -> Result<(), ClientError> {
        let Some(client) = self.client() else {
            return Err(ClientError::closed("there is no connection"));
        };
        let session = client.session();
        let (is_known, count) = {
            let state = self.hub.state();
            (
                state.subscriptions.contains_key(uri),
                state.subscriptions.len(),
            )
        };
        if is_known == active {
            return Ok(());
        }
        if active && count >= MAX_SUBSCRIPTIONS {
            return Err(ClientError::invalid("too many resources are subscribed"));
        }
        let task = if active {
            self.subscribe(session, uri).await?
        } else {
            Self::unsubscribe(session, uri).await?;
            None
        };
        if active {
            self.hub.add_subscription(uri, task);
        } else {
            self.hub.remove_subscription(uri);
        }
        Ok(())
    }

    /// Subscribes to a resource. In the modern era, the returned task holds the subscription.
    async fn subscribe(
        &self,
        session: &McpClientSession,
        uri: &str,
    ) -> Result<Option<AbortHandle>, ClientError> {
        if !session.protocol_version().is_modern() {
            session.resources_subscribe(uri).await?;
            return Ok(None);
        }
        let mut filter = SubscriptionFilter::new();
        filter.resource_subscriptions = Some(vec![uri.to_owned()]);
        let subscription = session.subscriptions_listen(&filter).await?;
        let (hub, uri) = (Arc::clone(&self.hub), uri.to_owned());
        let holding = async move {
            let mut subscription = pin!(subscription);
            // The page reads the notifications in the log.
            while poll_fn(|cx| subscription.as_mut().poll_next(cx))
                .await
                .is_some()
            {}
            hub.remove_subscription(&uri);
        };
        Ok(Some(tokio::spawn(holding).abort_handle()))
    }

    /// Ends a subscription of the legacy era. In the modern era, the end of its task does.
    async fn unsubscribe(session: &McpClientSession, uri: &str) -> Result<(), ClientError> {
        if !session.protocol_version().is_modern() {
            session.resources_unsubscribe(uri).await?;
        }
        Ok(())
    }

    /// Sets the roots, and announces the change to a server of the legacy era.
    pub(crate) async fn set_roots(&self, roots: Vec<Root>) -> Result<(), ClientError> {
        {
            let mut state = self.hub.state();
            state.roots = roots;
            self.hub.send_connection(&state);
        }
        match self.client() {
            Some(client) if !client.session().protocol_version().is_modern() => {
                let session = client.session();
                let params = serde_json::from_value(json!({}));
                let params = params.map_err(|error| ClientError::invalid(error.to_string()))?;
                session
                    .notify::<RootsListChangedNotification>(&params)
                    .await
            }
            _ => Ok(()),
        }
    }

    /// Sets the level of log messages again, on a new session of the legacy era. It is shown as unset if the server rejects it.
    ///
    /// # Errors
    ///
    /// Fails if the connection was lost.
    pub(super) async fn restore_log_level(
        &self,
        session: &McpClientSession,
    ) -> Result<(), ClientError> {
        let Some(level) = self.hub.state().log_level else {
            return Ok(());
        };
        let has_levels = session.server_capabilities().logging.is_some();
        if session.protocol_version().is_modern() || !has_levels {
            return Ok(());
        }
        match session.logging_set_level(level).await {
            Err(error @ (ClientError::Closed(_) | ClientError::Unreachable(_))) => Err(error),
            Err(_) => {
                self.hub.state().log_level = None;
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Sets the minimum level of log messages: at once in the legacy era, and for each call in the modern one.
    pub(crate) async fn set_log_level(&self, level: LoggingLevel) -> Result<(), ClientError> {
        if let Some(client) = self.client() {
            let session = client.session();
            if !session.protocol_version().is_modern() {
                session.logging_set_level(level).await?;
            }
        }
        let mut state = self.hub.state();
        state.log_level = Some(level);
        self.hub.send_connection(&state);
        Ok(())
    }
}
