//! Mounted servers, for programs: their state and their end.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::watch;
use treenail_runtime::WeakServer;

use crate::proxy::Mounts;
use crate::status::Status;
use crate::supervisor::Sources;
use crate::upstream::Upstream;

/// A mounted server. Dropping it changes nothing.
#[derive(Clone)]
pub struct Mounted {
    /// The number of the mount.
    pub(crate) mount: u64,
    pub(crate) name: Arc<str>,
    pub(crate) sources: Sources,
    pub(crate) server: WeakServer,
    pub(crate) upstream: Arc<Upstream>,
    /// The state as the task of the server reports it. It ends with the task.
    pub(crate) status: watch::Receiver<Status>,
    pub(crate) mounts: Weak<Mutex<Mounts>>,
}

impl fmt::Debug for Mounted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Mounted")
            .field("name", &self.name)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Mounted {
    /// Returns the name of the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the current state.
    pub fn status(&self) -> Status {
        let status = self.status.borrow().clone();
        match self.upstream.link() {
            // A call has noticed the end of the connection before its task.
            Err(cause) if status.is_connected() => Status::Disconnected { cause },
            _ => status,
        }
    }

    /// Waits until the first attempt to connect has ended, and returns its outcome.
    pub async fn ready(&self) -> Status {
        self.wait(|status| *status != Status::Connecting).await
    }

    /// Waits until the server is connected.
    pub async fn connected(&self) {
        let is_connected = |status: &Status| status.is_connected() && self.upstream.link().is_ok();
        self.wait(is_connected).await;
    }

    /// Waits until the server is not connected, and returns the state with the cause.
    pub async fn disconnected(&self) -> Status {
        if let status @ Status::Disconnected { .. } = self.status() {
            return status;
        }
        self.wait(|status| matches!(status, Status::Disconnected { .. }))
            .await
    }

    /// Waits for the next change of the state since the last call, and returns the new state; `None` once the server was unmounted
    /// and its connection is closed, or the server of the proxy has been dropped.
    pub async fn changed(&mut self) -> Option<Status> {
        self.status.changed().await.ok()?;
        Some(self.status.borrow_and_update().clone())
    }

    async fn wait(&self, until: impl FnMut(&Status) -> bool) -> Status {
        let mut status = self.status.clone();
        match status.wait_for(until).await {
            Ok(status) => status.clone(),
            // The task has ended with its server.
            Err(_) => self.status(),
        }
    }

    /// Removes the features of the server by one edit, and closes the connection in the background. Calls in flight fail.
    ///
    /// [`Proxy::close`](crate::Proxy::close) waits for the end of the connection.
    pub fn unmount(self) {
        if let Some(server) = self.server.upgrade() {
            if let Err(error) = self.sources.remove(&server) {
                tracing::error!(server = %self.name, %error, "the features of a server were not removed");
            }
        }
        self.upstream.unmount();
        if let Some(mounts) = self.mounts.upgrade() {
            let mut mounts = mounts.lock().unwrap_or_else(PoisonError::into_inner);
            mounts.mounted.retain(|one| one.mount != self.mount);
            // The resources of others may have URIs that were those of this one.
            mounts.compare_uris();
        }
    }
}
