//! Registry of the tools, prompts and resources of a server: their entries, and snapshots of the enabled ones.

mod catalog;
mod disabled;
mod entries;
mod index;
mod last;
mod list;
mod prepared;
mod resources;
mod route;
mod scopes;
mod snapshot;
mod source;
mod view;

#[cfg(feature = "resource-sources")]
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::catalog::Catalog;
pub(crate) use self::last::LastSnapshot;
use self::prepared::Prepared;
pub(crate) use self::route::Route;
pub(crate) use self::snapshot::Snapshot;
#[cfg(feature = "http-server")]
use treenail_schema::CacheScope;
use treenail_schema::Method;

use crate::error::{Error, Result};
use crate::extension::ExtensionSet;
#[cfg(feature = "http-server")]
use crate::scope::Access;
use crate::scope::RequiredScopes;
use crate::server::Server;
use crate::server::config::ServerConfig;
use crate::server::edit::Edit;
use crate::server::namespace::Parts;
#[cfg(feature = "resource-sources")]
use crate::server::provider::Provider;
use crate::server::subscriptions::{EditedLists, Kinds, OpaqueSnapshot};
#[cfg(feature = "http-server")]
use crate::wire::{Envelope, RpcError};
use crate::wrap::CallStack;

/// Tools, prompts and resources of a server, now.
///
/// Connections remember their [`LastSnapshot`] and compare versions, so that a request takes no lock.
#[derive(Debug)]
pub(crate) struct Registry {
    version: AtomicU64,
    /// Locked only to copy or to replace the reference.
    current: Mutex<Arc<Snapshot>>,
    /// Locked during a whole edit, so that each one starts from the last.
    catalog: Mutex<Catalog>,
    /// The stack around each tool, also around those of later edits.
    stack: CallStack,
    extensions: ExtensionSet,
}

impl Server {
    /// Changes the tools, prompts and resources of a [dynamic](crate::ServerBuilder::dynamic) server while it runs. Notifies
    /// all peers of the legacy era, and those of the modern era that have subscribed.
    ///
    /// An edit is atomic: no request sees a part of its changes. Calls in flight continue with the component that they were
    /// made for. A component that is enabled and disabled in one edit has not changed.
    ///
    /// The edit applies to this server only. With an [event bus](crate::ServerBuilder::event_bus), the peers of other replicas
    /// are notified too, but see a change only if their replica has been edited as well: make the same edit at each replica.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::server::{Component, Edit};
    ///
    /// # fn reload(server: &Server) -> treenail::Result<()> {
    /// server.edit(|offer| {
    ///     offer
    ///         .remove(Component::namespace("reports"))
    ///         .disable(Component::tool("users.delete"))
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if the server is not dynamic, a component does not exist, or an addition is invalid, see
    /// [`ServerBuilder::build`](crate::ServerBuilder::build). The server is then unchanged.
    pub fn edit(&self, change: impl FnOnce(Edit) -> Edit) -> Result<()> {
        if !self.state.config.dynamic {
            let message = "this server is not dynamic: build it with `ServerBuilder::dynamic()`";
            return Err(Error::Build(message.to_owned()));
        }
        self.apply_edit(change(Edit { steps: Vec::new() }))
    }

    /// Makes all changes of `edit`, or none, and notifies the peers.
    #[inline]
    pub(crate) fn apply_edit(&self, edit: Edit) -> Result<()> {
        let applied = Registry::of(self).apply(edit, &self.state.config);
        let (snapshot, kinds) = applied.map_err(Error::Build)?;
        let opaque: OpaqueSnapshot = Arc::<Snapshot>::clone(&snapshot);
        self.state.hub.publish_edit(&EditedLists {
            kinds,
            snapshot: &opaque,
            is_filtered: self.state.config.is_filtered(),
            changes_since: &|old| {
                let old = old.downcast_ref::<Snapshot>()?;
                let is_older = old.version <= snapshot.version;
                is_older.then(|| snapshot.changes_since(old))
            },
        });
        Ok(())
    }
}

impl Server {
    /// Returns the scopes that each tool, prompt and resource requires, with a description such as ``tool `files.read` ``.
    ///
    /// It is for reviews and tests of the scopes of a server.
    ///
    /// ```
    /// use treenail::Server;
    ///
    /// # fn review(server: &Server) {
    /// for (item, scopes) in server.required_scopes() {
    ///     println!("{item}: {}", scopes.names().collect::<Vec<_>>().join(" "));
    /// }
    /// # }
    /// ```
    #[inline]
    pub fn required_scopes(&self) -> Vec<(String, RequiredScopes)> {
        let snapshot = Registry::of(self).snapshot();
        let scopes = snapshot.scopes();
        scopes
            .map(|(entry, scopes)| (entry, scopes.clone()))
            .collect()
    }

    /// Returns the scopes that a request of `method` for `name` needs: the name of a tool or prompt, or the URI of a resource.
    pub fn scopes_of(&self, method: &str, name: &str) -> RequiredScopes {
        let snapshot = Registry::of(self).snapshot();
        let method = Method::from_name(method);
        let scopes = method.and_then(|method| snapshot.named_scopes(method, name));
        scopes.cloned().unwrap_or_default()
    }

    /// Returns the scopes that a caller without a token may learn: those of [`Server::scopes_of`], and none if callers see
    /// different items.
    #[doc(hidden)]
    pub fn advertised_scopes_of(&self, method: &str, name: &str) -> RequiredScopes {
        if self.state.config.is_filtered() {
            return RequiredScopes::default();
        }
        self.scopes_of(method, name)
    }

    /// Checks the scopes that requests of a caller need over HTTP, all of them at once.
    #[cfg(feature = "http-server")]
    #[doc(hidden)]
    pub fn check_scopes<'a>(
        &self,
        access: &Access,
        requests: impl Iterator<Item = &'a Envelope<'a>>,
    ) -> Result<(), RpcError> {
        let snapshot = Registry::of(self).snapshot();
        // Scopes of hidden items must not be named; the connection checks those of items that the caller sees.
        let requests = requests.filter(|_| !self.has_private_items());
        let required = requests.flat_map(|envelope| snapshot.required_scopes(envelope));
        access.check_request(required.collect()).map(drop)
    }

    /// Returns true if users may share cached lists.
    #[cfg(feature = "http-server")]
    #[doc(hidden)]
    pub fn shares_lists(&self) -> bool {
        self.state.config.caching().scope != CacheScope::Private
    }
}

impl Registry {
    pub(crate) fn new(
        (parts, extensions): (Parts, ExtensionSet),
        stack: CallStack,
        config: &ServerConfig,
    ) -> Result<Self, String> {
        let catalog = Catalog::new(parts, config.separator.as_deref(), &stack)?;
        let snapshot = Arc::new(Snapshot::new(&catalog, None, config));
        Ok(Self {
            version: AtomicU64::new(snapshot.version),
            current: Mutex::new(snapshot),
            catalog: Mutex::new(catalog),
            stack,
            extensions,
        })
    }

    /// Returns the handlers of the server's extensions.
    pub(crate) fn extensions(&self) -> &ExtensionSet {
        &self.extensions
    }

    /// Returns the registry of `server`.
    pub(crate) fn of(server: &Server) -> Arc<Self> {
        let registry = Arc::clone(&server.state.registry).downcast();
        registry.expect("`ServerBuilder::build` gives each server a registry")
    }

    /// Returns the current snapshot.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&lock(&self.current))
    }

    /// Returns the first of `uris` at which an entry of another source than `provider` is a resource.
    #[cfg(feature = "resource-sources")]
    pub(crate) fn taken(&self, uris: &HashSet<&str>, provider: &Provider) -> Option<String> {
        let catalog = lock(&self.catalog);
        let resources = &catalog.resources;
        let mut entries = resources.keys().zip(resources.sources());
        let taken = entries
            .find(|(uri, source)| uris.contains(uri) && source.provider.as_ref() != Some(provider));
        taken.map(|(uri, _)| uri.to_owned())
    }

    /// Returns true if `version` is that of the current snapshot.
    fn is_current(&self, version: u64) -> bool {
        version == self.version.load(Ordering::Acquire)
    }

    /// Makes all changes of `edit`, or none. Returns the new snapshot, and the kinds of lists that have changed.
    #[inline]
    pub(crate) fn apply(
        &self,
        edit: Edit,
        config: &ServerConfig,
    ) -> Result<(Arc<Snapshot>, Kinds), String> {
        let prepare = |step| Prepared::new(step, &self.stack, config);
        let steps = edit.steps.into_iter().map(prepare);
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        // The old values are dropped after the lock, because that may run the user's code: `steps` owns additions that
        // failed, the old catalog and snapshot own removed entries.
        let (mut catalog, old);
        let mut edited = lock(&self.catalog);
        catalog = edited.clone();
        old = self.snapshot();
        steps.iter().try_for_each(|step| step.apply(&mut catalog))?;
        catalog.finish()?;
        let snapshot = Arc::new(Snapshot::new(&catalog, Some(&old), config));
        let changes = snapshot.changes_since(&old);
        std::mem::swap(&mut *edited, &mut catalog);
        self.replace(&snapshot);
        drop(edited);
        Ok((snapshot, changes))
    }

    /// Replaces the current snapshot, of which the caller has a reference: dropping it may run the user's code.
    #[inline]
    fn replace(&self, snapshot: &Arc<Snapshot>) {
        let mut current = lock(&self.current);
        *current = Arc::clone(snapshot);
        self.version.store(snapshot.version, Ordering::Release);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
