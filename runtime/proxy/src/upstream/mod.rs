//! One server behind a proxy, whether it is connected or not.

mod error_code;
mod requests;

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use tokio::sync::watch;
use treenail_runtime::internal::LogThrottle;

pub(crate) use self::error_code::not_found;
pub(crate) use self::requests::{MountedTool, json};
use crate::limits::ProxyLimits;
use crate::link::Link;
use crate::matcher::{Comparisons, Matcher};
use crate::uris::Uris;
use crate::waiting::WaitingCalls;

/// Cause of the failures of calls of a server that was unmounted.
const UNMOUNTED: &str = "it was unmounted";

/// One server behind a proxy. The functions of its features share it.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) name: Arc<str>,
    pub(crate) limits: ProxyLimits,
    pub(crate) uris: Uris,
    pub(crate) waiting: WaitingCalls,
    /// Rate limit for warnings about lists that cannot be fetched.
    pub(crate) list_warnings: LogThrottle,
    /// Rate limit for warnings about features that are omitted.
    pub(crate) omission_warnings: LogThrottle,
    connection: RwLock<Connection>,
    unmounted: watch::Sender<bool>,
    known: watch::Sender<Arc<KnownResources>>,
}

/// Resources that the lists of a server contain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownResources {
    /// URIs, also of those that are not served.
    pub(crate) uris: HashSet<String>,
    /// Templates, also those that are not served.
    pub(crate) templates: Vec<Matcher>,
    /// Templates that are served unchanged.
    pub(crate) served: Vec<Matcher>,
}

impl KnownResources {
    /// Returns true if a list contains the URI, or a template that it matches; `None` if it is not compared.
    pub(crate) fn is_listed(&self, uri: &str, comparisons: &mut Comparisons) -> Option<bool> {
        if self.uris.contains(uri) {
            return Some(true);
        }
        comparisons.any_matches(&self.templates, uri)
    }

    /// Returns true if a template that is served unchanged may have the URI; `None` if it is not compared.
    fn is_served(&self, uri: &str, comparisons: &mut Comparisons) -> Option<bool> {
        comparisons.any_matches(&self.served, uri)
    }
}

/// State of the connection to the server.
#[derive(Clone, Debug)]
enum Connection {
    Up(Arc<Link>),
    /// The cause, as a clause.
    Down(Arc<str>),
    /// The server was unmounted. Its task closes the connection.
    Unmounted,
}

impl Upstream {
    pub(crate) fn new(
        name: Arc<str>,
        limits: ProxyLimits,
        uris: Uris,
        waiting: WaitingCalls,
    ) -> Arc<Self> {
        Arc::new(Self {
            name,
            limits,
            uris,
            waiting,
            list_warnings: LogThrottle::default(),
            omission_warnings: LogThrottle::default(),
            connection: RwLock::new(Connection::Down("it has not been reached yet".into())),
            unmounted: watch::Sender::new(false),
            known: watch::Sender::default(),
        })
    }

    pub(crate) fn set_up(&self, link: Arc<Link>) {
        self.set(Connection::Up(link));
    }

    pub(crate) fn set_down(&self, cause: impl Into<Arc<str>>) {
        self.set(Connection::Down(cause.into()));
    }

    /// Returns the connection, or the reason why there is none.
    pub(crate) fn link(&self) -> Result<Arc<Link>, Arc<str>> {
        let connection = self
            .connection
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        match &*connection {
            Connection::Up(link) => match link.tap.close_reason() {
                Some(reason) => Err(reason),
                None => Ok(Arc::clone(link)),
            },
            Connection::Down(cause) => Err(Arc::clone(cause)),
            Connection::Unmounted => Err(UNMOUNTED.into()),
        }
    }

    /// Returns the reason why features of the server are missing, if it is mounted but not connected.
    pub(crate) fn absence(&self) -> Option<String> {
        if *self.unmounted.borrow() {
            return None;
        }
        let cause = self.link().err()?;
        Some(self.not_connected(&cause))
    }

    fn not_connected(&self, cause: &str) -> String {
        format!("the server `{}` is not connected: {cause}", self.name)
    }

    pub(crate) fn set_known(&self, known: KnownResources) {
        self.known.send_if_modified(|current| {
            let is_changed = **current != known;
            *current = Arc::new(known);
            is_changed
        });
    }

    fn known(&self) -> Arc<KnownResources> {
        Arc::clone(&self.known.borrow())
    }

    /// Returns a receiver of changes of the known resources.
    pub(crate) fn known_changes(&self) -> watch::Receiver<Arc<KnownResources>> {
        self.known.subscribe()
    }

    /// Ends the connection for good: calls in flight fail, and the URIs of the server are released.
    pub(crate) fn unmount(&self) {
        let mut connection = self.lock_connection();
        if matches!(*connection, Connection::Unmounted) {
            return;
        }
        *connection = Connection::Unmounted;
        drop(connection);
        self.unmounted.send_replace(true);
        self.uris.release();
    }

    /// Waits until the server is unmounted.
    pub(crate) async fn unmounted(&self) {
        // The sender exists as long as the server.
        let _ = self.unmounted.subscribe().wait_for(|is| *is).await;
    }

    fn set(&self, connection: Connection) {
        let mut current = self.lock_connection();
        if !matches!(*current, Connection::Unmounted) {
            *current = connection;
        }
    }

    fn lock_connection(&self) -> RwLockWriteGuard<'_, Connection> {
        let connection = self.connection.write();
        connection.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if a list of the server contains a URI of the proxy without its prefix, or a template that it matches. So does
    /// one that is too long to be compared.
    pub(crate) fn is_listed(&self, uri: &str) -> bool {
        let own = self.uris.without_prefix(uri).unwrap_or(uri);
        let is_listed = self.known().is_listed(own, &mut Comparisons::default());
        is_listed.unwrap_or(true)
    }

    /// Returns true if a list contains the URI of the server.
    pub(crate) fn is_listed_resource(&self, uri: &str) -> bool {
        self.known().uris.contains(uri)
    }

    /// Returns the URI at the server of a subscribed URI of the proxy, if the resource is one of this server. A URI that is not
    /// compared matches no template.
    pub(crate) fn subscribed<'a>(
        &self,
        uri: &'a str,
        comparisons: &mut Comparisons,
    ) -> Option<&'a str> {
        if self.uris.is_foreign(uri) {
            return None;
        }
        if self.uris.owns(uri) {
            return Some(uri);
        }
        let known = self.known();
        let mut is_served = |uri| known.is_served(uri, comparisons).unwrap_or(false);
        match self.uris.without_prefix(uri) {
            // A template of the server may start like its prefix.
            Some(rest) if is_served(rest) || !is_served(uri) => Some(rest),
            None if !self.uris.prefix().is_empty() && !is_served(uri) => None,
            _ => Some(uri),
        }
    }

    /// Returns the URIs at the proxy of a resource of the server. A URI that is not compared matches no template.
    pub(crate) fn at_proxy(&self, uri: &str, comparisons: &mut Comparisons) -> Vec<String> {
        let is_plain = !self.uris.is_foreign(uri)
            && (self.uris.prefix().is_empty()
                || self.uris.owns(uri)
                || self.known().is_served(uri, comparisons) == Some(true));
        let plain = is_plain.then(|| uri.to_owned());
        plain.into_iter().chain(self.uris.prefixed(uri)).collect()
    }
}
