//! Proxies: the servers of others, served by one server.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::watch;
use treenail_runtime::internal::extension::has_extension;
use treenail_runtime::{Result, Server, WeakServer};

use crate::limits::ProxyLimits;
use crate::lists::Lists;
use crate::names::Names;
use crate::remote::Remote;
use crate::status::Status;
use crate::supervisor::{Sources, Supervisor};
use crate::upstream::Upstream;
use crate::uris::{Owners, Uris};
use crate::waiting::WaitingCalls;

/// Serves what other servers offer as a part of one server.
///
/// Each mounted [`Remote`] has a namespace. Its tools, prompts, resources and templates appear when it is connected, follow its
/// changes, and stay listed while it is away; calls then fail at once. Calls pass progress, log messages, cancellation and
/// requests for the client on, between all revisions of the protocol.
///
/// Requests of extensions of the protocol are not passed on, because the proxy does not know the effect of their methods.
///
/// A tool of the server itself with the same name has precedence, so that a server can be replaced tool by tool.
///
/// ```
/// use treenail::proxy::{Proxy, Remote};
/// use treenail::{McpClient, Server};
///
/// # async fn example() -> treenail::Result<()> {
/// let server = Server::builder("gateway", "1.0.0").dynamic().build()?;
/// let proxy = Proxy::new(&server);
/// proxy.mount(Remote::new("weather", || McpClient::builder().command("weather-server")))?;
/// proxy.mount(Remote::new("files", || McpClient::builder().command("file-server")))?;
/// server.serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
///
/// The mounted servers are served until they are [unmounted](Mounted::unmount), or the server is closed or dropped. All mounts of
/// a server belong to one proxy.
#[derive(Clone)]
pub struct Proxy {
    server: WeakServer,
    limits: ProxyLimits,
    owners: Owners,
    waiting: WaitingCalls,
    mounts: Arc<Mutex<Mounts>>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Proxy")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Proxy {
    /// Creates a proxy whose servers are served by `server`, which must be [dynamic](treenail_runtime::ServerBuilder::dynamic).
    pub fn new(server: &Server) -> Self {
        Self {
            server: server.downgrade(),
            limits: ProxyLimits::default(),
            owners: Owners::default(),
            waiting: WaitingCalls::default(),
            mounts: Arc::default(),
        }
    }

    /// Sets the limits of servers that are mounted later.
    #[must_use]
    pub fn limits(mut self, limits: ProxyLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Mounts a server. It is connected in the background, now and after each loss of the connection.
    ///
    /// # Errors
    ///
    /// [`Error::Build`](treenail_runtime::Error::Build) if the server of the proxy is not dynamic or has been dropped, or the
    /// namespace is not a valid name, or if the server lacks the extension for the tasks of the [`Remote`].
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    pub fn mount(&self, remote: Remote) -> Result<Mounted> {
        let server = self.server.upgrade().ok_or_else(|| {
            treenail_runtime::Error::Build("the server of the proxy has been dropped".to_owned())
        })?;
        check_task_extension(&server, &remote)?;
        let sources = Sources::new(&remote.namespace);
        // It reserves the place of the features, and checks the namespace.
        sources.clear(&server)?;
        let mut mounts = self.lock();
        let mount = mounts.next;
        mounts.next += 1;
        let uris = Uris::new(self.owners.clone(), mount, &remote.namespace);
        let (name, limits) = (Arc::clone(&remote.name), self.limits.clone());
        let upstream = Upstream::new(Arc::clone(&name), limits, uris, self.waiting.clone());
        let (sender, status) = watch::channel(Status::Connecting);
        let supervisor = Supervisor {
            names: Names::new(&remote.namespace, remote.renamed.clone()),
            remote,
            upstream: Arc::clone(&upstream),
            sources: sources.clone(),
            server: self.server.clone(),
            status: sender,
            served: Lists::default(),
            fetched: Lists::default(),
            retry: None,
        };
        // It ends when the server is unmounted.
        drop(tokio::spawn(supervisor.run()));
        let mounted = Mounted {
            mount,
            name,
            sources,
            server: self.server.clone(),
            upstream,
            status,
            mounts: Arc::downgrade(&self.mounts),
        };
        // A URI with the prefix of this mount may be listed by another one.
        mounts.compare_uris();
        mounts.mounted.push(mounted.clone());
        Ok(mounted)
    }

    /// Returns the mounted servers, in the order in which they were mounted.
    pub fn mounts(&self) -> Vec<Mounted> {
        self.lock().mounted.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Mounts> {
        self.mounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rejects a server whose tools need an extension that the server of the proxy does not have.
fn check_task_extension(server: &Server, remote: &Remote) -> Result<()> {
    let needed = remote.task.as_ref().map(|task| task.extension());
    match needed {
        Some(needed) if !has_extension(server, needed.id()) => {
            let (name, id) = (&remote.name, needed.id());
            Err(treenail_runtime::Error::Build(format!(
                "the tools of `{name}` need the extension `{id}`, which must be added to the builder of the server"
            )))
        }
        _ => Ok(()),
    }
}

/// Mounted servers of a proxy.
#[derive(Default)]
struct Mounts {
    next: u64,
    mounted: Vec<Mounted>,
}

impl Mounts {
    /// Lets all mounts compare the URIs of their resources with those of the others again.
    fn compare_uris(&self) {
        let links = self.mounted.iter().map(|one| one.upstream.link());
        for link in links.flatten() {
            link.tap.note_lists();
        }
    }
}

/// A mounted server. Dropping it changes nothing.
#[derive(Clone)]
pub struct Mounted {
    /// The number of the mount.
    mount: u64,
    name: Arc<str>,
    sources: Sources,
    server: WeakServer,
    upstream: Arc<Upstream>,
    status: watch::Receiver<Status>,
    mounts: Weak<Mutex<Mounts>>,
}

impl fmt::Debug for Mounted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Mounted")
            .field("name", &self.name)
            .field("status", &*self.status.borrow())
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
        self.status.borrow().clone()
    }

    /// Waits until the first attempt to connect has ended, and returns its outcome.
    pub async fn ready(&self) -> Status {
        self.wait(|status| *status != Status::Connecting).await
    }

    /// Waits until the server is connected.
    pub async fn connected(&self) {
        self.wait(Status::is_connected).await;
    }

    /// Waits until the server is not connected, and returns the state with the cause.
    pub async fn disconnected(&self) -> Status {
        self.wait(|status| matches!(status, Status::Disconnected { .. }))
            .await
    }

    /// Waits for the next change of the state since the last call, and returns the new state; `None` once the server of the proxy
    /// has been dropped.
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

    /// Removes the features of the server by one edit, and closes the connection. Calls in flight fail.
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
