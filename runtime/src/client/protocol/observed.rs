//! Notifications of a session, and the state that it derives from them.

use crate::client::protocol::broadcast::Notifications;
use crate::client::protocol::changes::Changes;
use crate::client::protocol::subscribed_uris::SubscribedUris;
use crate::client::{McpClientSession, TransportKind};

impl McpClientSession {
    /// Returns a stream of all notifications from now on: log messages, changes, progress, and those of extensions.
    pub fn notifications(&self) -> Notifications {
        self.inner.link.router.notifications()
    }

    pub(crate) fn changes(&self) -> &Changes {
        let link = &self.inner.link;
        let version = link.session.credentials_version();
        link.router.changes.note_credentials(version);
        &link.router.changes
    }

    /// Returns the resources that streams of the legacy era have subscribed to.
    pub(in crate::client) fn subscribed_uris(&self) -> &SubscribedUris {
        &self.inner.link.router.subscribed_uris
    }

    /// Returns true if a server of the modern era may replace that of the session.
    pub(in crate::client) fn may_become_modern(&self) -> bool {
        let link = &self.inner.link;
        !self.protocol_version().is_modern()
            && link.fixed_revision.is_none()
            && link.session.transport() == TransportKind::Http
    }

    /// Returns true within a poll of the client's handler, as for a request that it sends itself.
    pub(in crate::client) fn is_in_handler(&self) -> bool {
        self.inner.link.router.handler.is_polled()
    }
}
