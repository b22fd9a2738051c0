//! List of the server, cached while it is fresh.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use treenail_schema::error_code;

use crate::client::cache::freshness::Freshness;
use crate::client::cache::headers::HeaderArguments;
use crate::client::cache::list_sizes::{ListKind, ListSizes, SizeReservation};
use crate::client::cache::page::{ListItem, Page, SizedPage};
use crate::client::shared_turn::SharedTurn;
use crate::client::timeout::timeout;
use crate::client::{ClientError, ClientLimits};
use crate::wire::RpcError;

/// All items of a list as fetched at one time, in the order of the server.
#[derive(Debug)]
pub(super) struct Snapshot<T> {
    pub(super) items: Vec<Arc<T>>,
    index: HashMap<String, usize>,
    /// `None` means fresh until a change notification.
    freshness: Option<Freshness>,
    /// Number of change notifications when the request was sent.
    changes: u64,
    /// The server declares the list but does not implement its method.
    pub(super) missing: bool,
    /// Tools with arguments that are sent as headers, by name. Set by the first call over HTTP.
    pub(super) header_arguments: OnceLock<HashMap<Box<str>, HeaderArguments>>,
}

impl<T: ListItem> Snapshot<T> {
    fn new(items: Vec<T>, freshness: Option<Freshness>, changes: u64) -> Self {
        let mut index = HashMap::with_capacity(items.len());
        let mut unique = Vec::with_capacity(items.len());
        let mut duplicates = 0_usize;
        for item in items {
            match index.entry(item.key().to_owned()) {
                Entry::Vacant(slot) => {
                    slot.insert(unique.len());
                    unique.push(Arc::new(item));
                }
                Entry::Occupied(_) => {
                    if duplicates == 0 {
                        let name = crate::wire::quoted(item.key());
                        tracing::warn!(
                            name,
                            "the server lists two items with one name or URI; the first is used"
                        );
                    }
                    duplicates += 1;
                }
            }
        }
        if duplicates > 1 {
            tracing::warn!(
                duplicates,
                "dropped list items with duplicate names or URIs"
            );
        }
        Self {
            items: unique,
            index,
            freshness,
            changes,
            missing: false,
            header_arguments: OnceLock::new(),
        }
    }

    /// Returns the empty snapshot for a server without the list. It is fresh until the server reports a change.
    fn empty(missing: bool, changes: u64) -> Self {
        Self {
            missing,
            ..Self::new(Vec::new(), None, changes)
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Arc<T>> {
        self.index.get(key).map(|slot| &self.items[*slot])
    }

    fn is_fresh(&self, changes: u64) -> bool {
        self.changes == changes && self.freshness.as_ref().is_none_or(Freshness::is_fresh)
    }

    /// Returns the time of the next periodic fetch, at least `min` after the last one; `None` without a TTL, or with one of zero.
    pub(super) fn next_fetch(&self, min: Duration) -> Option<Instant> {
        self.freshness.as_ref()?.next_fetch(min)
    }
}

/// List of the server, cached while it is fresh.
#[derive(Debug)]
pub(super) struct CachedList<T> {
    current: Mutex<Option<Arc<Snapshot<T>>>>,
    /// Turns at a fetch, so that concurrent callers share one.
    fetching: SharedTurn,
}

impl<T> Default for CachedList<T> {
    fn default() -> Self {
        Self {
            current: Mutex::default(),
            fetching: SharedTurn::default(),
        }
    }
}

/// Source of the pages of a list.
pub(super) struct ListSource<'a, F> {
    pub(super) fetch: F,
    /// Method of the list.
    pub(super) method: &'static str,
    /// The server declares the capability. Without it, the list is tried once.
    pub(super) declared: bool,
    /// Number of change notifications so far.
    pub(super) changes: &'a AtomicU64,
    /// The handler of the client uses the list.
    pub(super) is_from_handler: bool,
    /// The server sends `ttlMs`.
    pub(super) sends_ttl: bool,
    pub(super) limits: &'a ClientLimits,
    pub(super) kind: ListKind,
    pub(super) sizes: &'a ListSizes,
}

impl<T: ListItem> CachedList<T> {
    /// Returns the latest snapshot, fresh or not.
    pub(super) fn latest(&self) -> Option<Arc<Snapshot<T>>> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }

    /// Returns true if the server has changed the list since it was fetched. A first fetch that is still running counts, because its
    /// result may be outdated before it is cached.
    pub(super) fn is_changed(&self, changes: &AtomicU64) -> bool {
        let is_fetching = self.fetching.is_taken();
        let changes = changes.load(Ordering::Acquire);
        self.latest()
            .map_or(is_fetching, |latest| latest.changes != changes)
    }

    /// Returns the cached snapshot if it is fresh, and fetches the list otherwise.
    pub(super) async fn get<F, A, P>(
        &self,
        source: ListSource<'_, F>,
    ) -> Result<Arc<Snapshot<T>>, ClientError>
    where
        F: Fn(Option<String>) -> A,
        A: Future<Output = Result<SizedPage<P>, ClientError>>,
        P: Into<Page<T>>,
    {
        if let Some(fresh) = self.fresh(source.changes) {
            return Ok(fresh);
        }
        let (limit, is_from_handler) = (source.limits.request_timeout, source.is_from_handler);
        let fetch = async {
            match self.fresh(source.changes) {
                Some(fresh) => Ok(fresh),
                None => Box::pin(self.fetch(source)).await,
            }
        };
        timeout(limit, self.fetching.take(is_from_handler, fetch)).await?
    }

    /// Fetches the list in any case.
    pub(super) async fn refresh<F, A, P>(
        &self,
        source: ListSource<'_, F>,
    ) -> Result<Arc<Snapshot<T>>, ClientError>
    where
        F: Fn(Option<String>) -> A,
        A: Future<Output = Result<SizedPage<P>, ClientError>>,
        P: Into<Page<T>>,
    {
        let (limit, is_from_handler) = (source.limits.request_timeout, source.is_from_handler);
        let fetch = Box::pin(self.fetch(source));
        timeout(limit, self.fetching.take(is_from_handler, fetch)).await?
    }

    /// Returns true if the list had items when it was fetched last.
    fn has_items(&self) -> bool {
        self.latest().is_some_and(|latest| !latest.items.is_empty())
    }

    fn fresh(&self, changes: &AtomicU64) -> Option<Arc<Snapshot<T>>> {
        let changes = changes.load(Ordering::Acquire);
        self.latest().filter(|snapshot| snapshot.is_fresh(changes))
    }

    async fn fetch<F, A, P>(
        &self,
        source: ListSource<'_, F>,
    ) -> Result<Arc<Snapshot<T>>, ClientError>
    where
        F: Fn(Option<String>) -> A,
        A: Future<Output = Result<SizedPage<P>, ClientError>>,
        P: Into<Page<T>>,
    {
        // Read before the first page: a change during the fetch makes the snapshot stale.
        let changes = source.changes.load(Ordering::Acquire);
        let reservation = SizeReservation::new(source.sizes, source.kind);
        let pages = match fetch_pages(&source, &reservation).await {
            // The server no longer knows a cursor: the list changed during the fetch.
            Err(ClientError::Refused(error)) if error.code == error_code::INVALID_PARAMS => {
                reservation.reset();
                fetch_pages(&source, &reservation).await
            }
            other => other,
        };
        let snapshot = match pages {
            Ok((items, freshness)) => {
                let freshness = source.sends_ttl.then_some(freshness);
                Snapshot::new(items, freshness, changes)
            }
            Err(ClientError::Refused(error))
                if source.is_missing_list(&error, self.has_items()) =>
            {
                let method = source.method;
                tracing::debug!(method, %error, "the server does not implement this list");
                reservation.reset();
                Snapshot::empty(source.declared, changes)
            }
            Err(error) => return Err(error),
        };
        let snapshot = Arc::new(snapshot);
        reservation.commit();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }
}

impl<F> ListSource<'_, F> {
    /// Returns whether an error means that the server lacks the list. Many servers declare resources and have no
    /// templates. A list that is not declared may be refused in any way, unless it had items before, or the server has failed.
    fn is_missing_list(&self, error: &RpcError, had_items: bool) -> bool {
        match error.code {
            error_code::METHOD_NOT_FOUND => true,
            error_code::INTERNAL_ERROR => false,
            _ => !self.declared && !had_items,
        }
    }
}

/// Fetches all items of a list, and returns them with their freshness. A cursor that the server has sent before ends the list.
async fn fetch_pages<T, F, A, P>(
    source: &ListSource<'_, F>,
    reservation: &SizeReservation<'_>,
) -> Result<(Vec<T>, Freshness), ClientError>
where
    F: Fn(Option<String>) -> A,
    A: Future<Output = Result<SizedPage<P>, ClientError>>,
    P: Into<Page<T>>,
{
    let limits = source.limits;
    let (mut all, mut freshness, mut cursor) = (Vec::new(), Freshness::new(), None);
    let mut sent = HashSet::new();
    for _ in 0..limits.lists.pages {
        let fetched = (source.fetch)(cursor).await?;
        reservation.add(fetched.bytes, limits.lists.bytes)?;
        let page: Page<T> = fetched.page.into();
        all.extend(page.items);
        freshness.add_page(page.ttl_ms);
        if all.len() > limits.lists.items {
            let limit = limits.lists.items;
            return Err(ClientError::protocol(format!(
                "a list has more than {limit} items"
            )));
        }
        let Some(next) = page.next_cursor else {
            return Ok((all, freshness));
        };
        if !sent.insert(next.clone()) {
            let method = source.method;
            tracing::warn!(
                method,
                "the server repeats a cursor; the list ends with the items so far"
            );
            return Ok((all, freshness));
        }
        cursor = Some(next);
    }
    let limit = limits.lists.pages;
    Err(ClientError::protocol(format!(
        "a list has more than {limit} pages"
    )))
}
