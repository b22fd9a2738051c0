//! Proxies: the servers of others, served by one server.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;
use treenail_runtime::internal::extension::has_extension;
use treenail_runtime::{Result, Server, WeakServer};

use crate::limits::ProxyLimits;
use crate::lists::Lists;
use crate::mounted::Mounted;
use crate::names::Names;
use crate::remote::Remote;
use crate::status::Status;
use crate::supervisor::{LatestSession, Sources, Supervisor};
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
/// use std::time::Duration;
///
/// use treenail::proxy::{Proxy, Remote};
/// use treenail::{McpClient, Server};
///
/// # async fn example() -> treenail::Result<()> {
/// let server = Server::builder("gateway", "1.0.0").dynamic().build()?;
/// let proxy = Proxy::new(&server);
/// proxy.mount(Remote::new("weather", || McpClient::builder().command("weather-server")))?;
/// proxy.mount(Remote::new("files", || McpClient::builder().command("file-server")))?;
/// proxy.ready(Duration::from_secs(10)).await; // many clients list tools only once
/// let outcome = server.serve_stdio().await;
/// proxy.close().await;
/// # outcome
/// # }
/// ```
///
/// The mounted servers are served until they are [unmounted](Mounted::unmount), or the server is closed or dropped. Their
/// connections are closed in the background then, after the calls in flight of a server that was closed.
/// [`close`](Self::close) waits for that: the end of the program would kill servers that are processes. All mounts of a server
/// belong to one proxy.
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
        let mount = self.lock().next_mount();
        let uris = Uris::new(self.owners.clone(), mount, &remote.namespace);
        let (name, limits) = (Arc::clone(&remote.name), self.limits.clone());
        let upstream = Upstream::new(Arc::clone(&name), limits, uris, self.waiting.clone());
        let sources = Sources::new(&remote.namespace, &upstream);
        // It reserves the place of the features, and checks the namespace.
        sources.clear(&server).inspect_err(|_| upstream.unmount())?;
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
            latest: LatestSession::default(),
            has_checked_renames: false,
        };
        // It ends when the server is unmounted, and the status ends with it.
        drop(tokio::spawn(supervisor.run()));
        let mut mounts = self.lock();
        mounts.tasks.retain(|task| task.has_changed().is_ok());
        mounts.tasks.push(status.clone());
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

    /// Waits until each mounted server is connected or its first attempt to connect has failed, but at most for `limit`. A server
    /// that needs longer is connected later.
    ///
    /// Call it before clients are served, because many of them list tools only once. [`Mounted::status`] then has the cause of a
    /// failure.
    pub async fn ready(&self, limit: Duration) {
        let mounts = self.mounts();
        let all = async {
            for mounted in &mounts {
                mounted.ready().await;
            }
        };
        let _ = timeout(limit, all).await;
    }

    /// Unmounts all servers, and waits until their connections are closed. Call it at the end of a program.
    ///
    /// Calls in flight fail. A server that is a process sees the end of its input, and is terminated if it does not exit. The
    /// session of a legacy server over HTTP is deleted. All servers are closed at the same time; each step of that takes at most
    /// [`ClientLimits::shutdown_timeout`](treenail_runtime::client::ClientLimits::shutdown_timeout). Hosts kill a server over
    /// stdio about 2 seconds after SIGTERM, so a gateway that they start needs clients with steps of at most 0.6 s.
    pub async fn close(&self) {
        let mounted = self.mounts();
        for one in mounted {
            one.unmount();
        }
        let tasks = self.lock().tasks.clone();
        for mut task in tasks {
            while task.changed().await.is_ok() {}
        }
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
pub(crate) struct Mounts {
    next: u64,
    pub(crate) mounted: Vec<Mounted>,
    /// The states of all servers whose tasks have not ended, also of those that were unmounted.
    tasks: Vec<watch::Receiver<Status>>,
}

impl Mounts {
    /// Returns the number of the next mount.
    fn next_mount(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Lets all mounts compare the URIs of their resources with those of the others again.
    pub(crate) fn compare_uris(&self) {
        let links = self.mounted.iter().map(|one| one.upstream.link());
        for link in links.flatten() {
            link.tap.note_lists();
        }
    }
}
