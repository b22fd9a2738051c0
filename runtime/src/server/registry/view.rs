//! Views: the snapshots of a server whose callers see different items.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use treenail_schema::Method;

use crate::scope::RequiredScopes;
use crate::server::config::ServerConfig;
use crate::server::registry::catalog::Catalog;
use crate::server::registry::entries::{EntryList, Ruled};
use crate::server::registry::snapshot::Snapshot;
use crate::visibility::{Caller, FeatureRef, Rule};
use crate::wire::{Envelope, as_string};

/// Views of one snapshot. Each contains only the items that a caller sees, so hidden items are unknown in every respect.
pub(crate) struct Views {
    /// The enabled entries, at the positions of the snapshot.
    catalog: Catalog,
    /// The last views, the most recent first.
    cached: Mutex<VecDeque<View>>,
}

/// Cached view of all callers that see the same items.
struct View {
    /// For each item, true if the callers see it.
    visible: Vec<bool>,
    snapshot: Arc<Snapshot>,
}

impl fmt::Debug for Views {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Views").finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Returns the snapshot that a caller sees for a request or for its lists, or `None` if there are no rules.
    pub(crate) fn view(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        request: Option<&Envelope<'_>>,
        config: &ServerConfig,
    ) -> Option<Arc<Self>> {
        let views = self.views.as_ref()?;
        let names_visible = |request| views.names_visible_item(self, caller, request, config);
        Some(match request {
            // Everything about the request concerns the item, so other items need not be checked.
            Some(request) if names_visible(request) => Arc::clone(self),
            _ => views.get(self, caller, config),
        })
    }
}

impl Views {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        Self {
            catalog: catalog.enabled(),
            cached: Mutex::default(),
        }
    }

    /// Returns true if a request names exactly an item that the caller sees.
    fn names_visible_item(
        &self,
        base: &Snapshot,
        caller: &Caller<'_>,
        request: &Envelope<'_>,
        config: &ServerConfig,
    ) -> bool {
        let params = &request.params;
        let (list, index, key) = match request.known {
            Some(Method::CallTool) => (&self.catalog.tools, &base.tools.index, params.name),
            Some(Method::GetPrompt) => (&self.catalog.prompts, &base.prompts.index, params.name),
            Some(Method::ReadResource) => {
                let uri = params.member("uri").ok().flatten();
                (&self.catalog.resources, &base.resources.single.index, uri)
            }
            _ => return false,
        };
        let position = key.and_then(as_string).and_then(|key| index.position(&key));
        let item = position.and_then(|position| list.ruled_at(position));
        item.is_some_and(|item| is_visible(&item, caller, config))
    }

    /// Returns the view of a caller. The rules run without a lock.
    fn get(
        &self,
        base: &Arc<Snapshot>,
        caller: &Caller<'_>,
        config: &ServerConfig,
    ) -> Arc<Snapshot> {
        let visible = self.evaluate(caller, config);
        if visible.iter().all(|visible| *visible) {
            return Arc::clone(base);
        }
        if let Some(snapshot) = self.cached(&visible) {
            return snapshot;
        }
        let catalog = self.catalog.filtered(visible.iter().copied());
        let snapshot = Arc::new(Snapshot::view_of(base, &catalog, config));
        self.cache(visible, &snapshot, config.cached_views);
        snapshot
    }

    /// Evaluates the rules for all items.
    fn evaluate(&self, caller: &Caller<'_>, config: &ServerConfig) -> Vec<bool> {
        let items = self.catalog.lists().into_iter().flat_map(EntryList::ruled);
        items
            .map(|item| is_visible(&item, caller, config))
            .collect()
    }

    fn cached(&self, visible: &[bool]) -> Option<Arc<Snapshot>> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let position = cached.iter().position(|view| view.visible == visible)?;
        let view = cached.remove(position)?;
        let snapshot = Arc::clone(&view.snapshot);
        cached.push_front(view);
        Some(snapshot)
    }

    /// Caches a view. It replaces the one that was not used for the longest time.
    fn cache(&self, visible: Vec<bool>, snapshot: &Arc<Snapshot>, most: usize) {
        let snapshot = Arc::clone(snapshot);
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.push_front(View { visible, snapshot });
        let evicted = (cached.len() > most).then(|| cached.pop_back());
        drop(cached);
        drop(evicted);
    }
}

/// Returns true if all rules of the server and of the item's namespaces allow it.
fn is_visible(item: &Ruled<'_>, caller: &Caller<'_>, config: &ServerConfig) -> bool {
    let scopes: &RequiredScopes = &item.entry.scopes;
    let described = FeatureRef {
        name: item.name,
        descriptor: item.entry.descriptor.describe(),
        scopes,
    };
    let mut rules = config.rules.iter().chain(item.rules);
    rules.all(|rule: &Rule| rule.allows(&described, caller))
}
