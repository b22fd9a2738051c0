//! Connection of a client session: its handshake, and the errors of a failed one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use treenail_schema::{Implementation, JsonObject};

use super::McpClientSessionBuilder;
use crate::client::protocol::McpClientSession;
use crate::client::protocol::checked_handler::CheckedHandler;
use crate::client::protocol::extensions::{declare_extensions, read_extensions};
use crate::client::protocol::handshake::{Expectation, Handshake};
use crate::client::protocol::inner::{Inner, Link};
use crate::client::protocol::router::Router;
use crate::client::protocol::server_info::PeerInfo;
use crate::client::{ClientError, Session};

impl McpClientSessionBuilder {
    /// Connects and negotiates the revision, with the legacy handshake if the server needs it.
    ///
    /// A child process that exits on the modern probe is restarted and treated as a legacy server.
    ///
    /// # Errors
    ///
    /// [`ClientError::Invalid`] if the builder has no server to connect to, or an extension is invalid; any other [`ClientError`] if connecting fails.
    pub async fn build(mut self) -> Result<McpClientSession, ClientError> {
        let extensions = read_extensions(std::mem::take(&mut self.extensions))?;
        let mut target = self.target.take().ok_or_else(|| {
            ClientError::invalid(
                "the builder needs a `command`, a `url`, a `session` or a `server`",
            )
        })?;
        #[cfg(feature = "http-client")]
        {
            self.http.only_revision = self.expected.only();
            target = target.with_options(std::mem::take(&mut self.http))?;
        }
        let wrap = self
            .wrap
            .take()
            .unwrap_or_else(|| Box::new(|session| session));
        let session = wrap(target.open(&self.limits)?);
        let (expected, limits) = (self.expected, self.limits.clone());
        let link = self.into_link(session, extensions);
        match Box::pin(Handshake::new(&link).negotiate(expected)).await {
            Err(ClientError::Closed(_)) if target.can_restart(expected) => {
                tracing::debug!("the server exited when it was probed; restarting it");
                let link = link.with_session(wrap(target.open(&limits)?));
                let handshake = Handshake::new(&link);
                let result = Box::pin(handshake.negotiate(Expectation::Legacy)).await;
                finish_handshake(result, link).await
            }
            result => finish_handshake(result, link).await,
        }
    }

    fn into_link(
        self,
        session: Arc<dyn Session>,
        extensions: BTreeMap<String, JsonObject>,
    ) -> Link {
        let handler = self.handler.unwrap_or_else(|| Box::new(self.closures));
        let mut capabilities = self.capabilities.unwrap_or_else(|| handler.capabilities());
        if !extensions.is_empty() {
            let declared = capabilities.extensions.get_or_insert_default();
            declared.extend(extensions);
        }
        declare_extensions(&mut capabilities, session.extensions());
        let handler = Arc::new(CheckedHandler::new(handler, capabilities));
        let router = Router::listen_to(&*session, handler, self.limits.clone());
        let client_info = self
            .info
            .unwrap_or_else(|| Implementation::new("treenail", env!("CARGO_PKG_VERSION")));
        Link {
            session,
            router,
            limits: self.limits,
            client_info,
            sends_client_info: !self.hide_client_info,
            fixed_revision: self.expected.only(),
            next_id: AtomicI64::new(1),
            tasks: self.tasks,
        }
    }
}

/// Returns the session, or closes the connection after a failed handshake.
async fn finish_handshake(
    result: Result<PeerInfo, ClientError>,
    link: Link,
) -> Result<McpClientSession, ClientError> {
    match result {
        Ok(peer) => Ok(McpClientSession {
            inner: Inner::new(link, peer),
        }),
        Err(error) => {
            if let Err(error) = link.session.close().await {
                tracing::debug!(%error, "a connection could not be closed");
            }
            Err(add_stray_line(error, link.session.stray_line()))
        }
    }
}

/// Adds the first stray line to an error that it may explain.
fn add_stray_line(error: ClientError, line: Option<String>) -> ClientError {
    let Some(line) = line else {
        return error;
    };
    let why = format!("the server wrote a line that is not a message: {line}");
    match error {
        ClientError::Closed(reason) => ClientError::closed(format!("{reason}; {why}")),
        ClientError::Protocol(reason) => ClientError::protocol(format!("{reason}; {why}")),
        ClientError::Timeout(_) => ClientError::protocol(format!("{why}; {error}")),
        other => other,
    }
}
