//! References to a server that do not keep it alive, for tasks that serve it.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Weak};

use tokio::sync::watch;

use crate::server::subscriptions::Hub;
use crate::server::{Server, ServerState};

/// Reference to a [`Server`] that does not keep it alive, from [`Server::downgrade`]. A task that adds features to a server for
/// the time of its life holds one.
///
/// ```
/// use treenail::Server;
///
/// # fn example(server: &Server) {
/// let weak = server.downgrade();
/// tokio::spawn(async move {
///     weak.closed().await;
///     // Stop the work for this server.
/// });
/// # }
/// ```
#[derive(Clone)]
pub struct WeakServer {
    state: Weak<ServerState>,
    hub: Arc<Hub>,
}

impl fmt::Debug for WeakServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WeakServer").finish_non_exhaustive()
    }
}

impl WeakServer {
    /// Returns the server, unless all references and connections to it have been dropped.
    pub fn upgrade(&self) -> Option<Server> {
        self.state.upgrade().map(|state| Server { state })
    }

    /// Waits until the server has been [closed](Server::close) or dropped.
    pub async fn closed(&self) {
        self.hub.closed().await;
    }
}

/// The resources that clients of a server have subscribed to, from [`Server::subscribed_resources`]. A proxy subscribes to them at
/// the server that has them.
#[derive(Debug)]
pub struct SubscribedResources {
    hub: Arc<Hub>,
    changes: watch::Receiver<()>,
}

impl SubscribedResources {
    /// Returns the URIs, as the clients of this replica wrote them.
    #[inline]
    pub fn uris(&mut self) -> HashSet<Arc<str>> {
        self.changes.mark_unchanged();
        self.hub.uris()
    }

    /// Waits until a client has subscribed or unsubscribed since the last call of [`SubscribedResources::uris`].
    pub async fn changed(&mut self) {
        // The hub owns the sender.
        let _ = self.changes.changed().await;
    }
}

impl Server {
    /// Returns a reference that does not keep the server alive.
    pub fn downgrade(&self) -> WeakServer {
        WeakServer {
            state: Arc::downgrade(&self.state),
            hub: Arc::clone(&self.state.hub),
        }
    }

    /// Returns the resources that clients have subscribed to, now and after each change.
    pub fn subscribed_resources(&self) -> SubscribedResources {
        SubscribedResources {
            hub: Arc::clone(&self.state.hub),
            changes: self.state.hub.interest(),
        }
    }
}

/// Closes the hub, so that [`WeakServer::closed`] returns.
impl Drop for ServerState {
    fn drop(&mut self) {
        self.hub.close();
    }
}
