//! A list of the server that is kept while it is fresh.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use treenail_schema::{
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt,
    Resource, ResourceTemplate, Tool, error_code,
};

use crate::client::kept::sizes::{Claim, Kind, Sizes};
use crate::client::{ClientError, ClientLimits};
use crate::wire::RpcError;

/// What a list consists of.
pub(super) trait Listed {
    /// What an item is looked up by.
    fn key(&self) -> &str;
}

impl Listed for Tool {
    fn key(&self) -> &str {
        &self.name
    }
}

impl Listed for Prompt {
    fn key(&self) -> &str {
        &self.name
    }
}

impl Listed for Resource {
    fn key(&self) -> &str {
        &self.uri
    }
}

impl Listed for ResourceTemplate {
    fn key(&self) -> &str {
        &self.name
    }
}

/// One page of a list.
pub(super) struct Page<T> {
    items: Vec<T>,
    next: Option<String>,
    /// Milliseconds; servers of the legacy era do not tell.
    ttl_ms: Option<u64>,
}

macro_rules! pages {
    ($($result:ident . $items:ident: $item:ty),*) => {$(
        impl From<$result> for Page<$item> {
            fn from(result: $result) -> Self {
                Self {
                    items: result.$items,
                    next: result.next_cursor,
                    ttl_ms: result.ttl_ms,
                }
            }
        }
    )*};
}

pages!(
    ListToolsResult.tools: Tool,
    ListPromptsResult.prompts: Prompt,
    ListResourcesResult.resources: Resource,
    ListResourceTemplatesResult.resource_templates: ResourceTemplate
);

/// A page as it was fetched, with the estimated bytes of memory that it takes.
pub(super) struct Weighed<P> {
    pub(super) page: P,
    pub(super) bytes: usize,
}

/// All items of a list, in the order of the server.
#[derive(Debug)]
pub(super) struct Fetched<T> {
    pub(super) items: Vec<Arc<T>>,
    places: HashMap<String, usize>,
    /// Until when it may be taken as it is; `None` means until the server says otherwise.
    fresh_until: Option<Instant>,
    /// How often the server had told of changes when it was asked.
    changes: u64,
    /// Whether the server has declared the list, and does not know the method for it.
    pub(super) missing: bool,
}

impl<T: Listed> Fetched<T> {
    fn new(items: Vec<T>, fresh_until: Option<Instant>, changes: u64) -> Self {
        let mut places = HashMap::with_capacity(items.len());
        let mut kept = Vec::with_capacity(items.len());
        let mut twice = 0_usize;
        for item in items {
            match places.entry(item.key().to_owned()) {
                Entry::Vacant(place) => {
                    place.insert(kept.len());
                    kept.push(Arc::new(item));
                }
                Entry::Occupied(_) => {
                    if twice == 0 {
                        let name = crate::wire::quoted(item.key());
                        tracing::warn!(name, "the server has listed two things under one name");
                    }
                    twice += 1;
                }
            }
        }
        if twice > 1 {
            tracing::warn!(
                twice,
                "items of a list were dropped, since others have their names"
            );
        }
        Self {
            items: kept,
            places,
            fresh_until,
            changes,
            missing: false,
        }
    }

    /// The empty list of a server that has none. It is fresh until the server reports a change.
    fn none(missing: bool, changes: u64) -> Self {
        Self {
            missing,
            ..Self::new(Vec::new(), None, changes)
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Arc<T>> {
        self.places.get(key).map(|place| &self.items[*place])
    }

    fn is_fresh(&self, changes: u64) -> bool {
        self.changes == changes && self.fresh_until.is_none_or(|until| Instant::now() < until)
    }
}

/// A list of the server that is kept while it is fresh.
#[derive(Debug)]
pub(super) struct Kept<T> {
    current: Mutex<Option<Arc<Fetched<T>>>>,
    /// Held while it is fetched, so that it is fetched once for all who want it.
    fetching: tokio::sync::Mutex<()>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self {
            current: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        }
    }
}

/// Where the pages of a list come from.
pub(super) struct Source<'a, F> {
    pub(super) fetch: F,
    /// Method of the list.
    pub(super) method: &'static str,
    /// Whether the server has declared the capability. A server that has not is tried once.
    pub(super) declared: bool,
    /// Counts the changes that the server has told of.
    pub(super) changes: &'a AtomicU64,
    /// Whether the server tells how long its lists are fresh.
    pub(super) tells_ttl: bool,
    pub(super) limits: &'a ClientLimits,
    pub(super) kind: Kind,
    pub(super) sizes: &'a Sizes,
}

impl<T: Listed> Kept<T> {
    /// What was fetched last, fresh or not.
    pub(super) fn last(&self) -> Option<Arc<Fetched<T>>> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }

    /// The list, fetched anew if it is not fresh.
    pub(super) async fn get<F, A, P>(
        &self,
        source: Source<'_, F>,
    ) -> Result<Arc<Fetched<T>>, ClientError>
    where
        F: Fn(Option<String>) -> A,
        A: Future<Output = Result<Weighed<P>, ClientError>>,
        P: Into<Page<T>>,
    {
        if let Some(fresh) = self.fresh(source.changes) {
            return Ok(fresh);
        }
        let limit = source.limits.request_timeout;
        let fetched = timeout(limit, async {
            let _fetching = self.fetching.lock().await;
            match self.fresh(source.changes) {
                Some(fresh) => Ok(fresh),
                None => Box::pin(self.fetch(source)).await,
            }
        });
        fetched.await.map_err(|_| ClientError::Timeout(limit))?
    }

    /// The list, fetched anew.
    pub(super) async fn refresh<F, A, P>(
        &self,
        source: Source<'_, F>,
    ) -> Result<Arc<Fetched<T>>, ClientError>
    where
        F: Fn(Option<String>) -> A,
        A: Future<Output = Result<Weighed<P>, ClientError>>,
        P: Into<Page<T>>,
    {
        let limit = source.limits.request_timeout;
        let fetched = timeout(limit, async {
            let _fetching = self.fetching.lock().await;
            Box::pin(self.fetch(source)).await
        });
        fetched.await.map_err(|_| ClientError::Timeout(limit))?
    }

    fn fresh(&self, changes: &AtomicU64) -> Option<Arc<Fetched<T>>> {
        let changes = changes.load(Ordering::Acquire);
        self.last().filter(|list| list.is_fresh(changes))
    }

    async fn fetch<F, A, P>(&self, source: Source<'_, F>) -> Result<Arc<Fetched<T>>, ClientError>
    where
        F: Fn(Option<String>) -> A,
        A: Future<Output = Result<Weighed<P>, ClientError>>,
        P: Into<Page<T>>,
    {
        // A change that is told while the pages come makes the list stale.
        let changes = source.changes.load(Ordering::Acquire);
        let claim = Claim::new(source.sizes, source.kind);
        let pages = match all_pages(&source, &claim).await {
            // A cursor that the server does not know any more: the list has changed on the way.
            Err(ClientError::Refused(error)) if error.code == error_code::INVALID_PARAMS => {
                claim.clear();
                all_pages(&source, &claim).await
            }
            other => other,
        };
        let fetched = match pages {
            Ok((items, ttl)) => {
                let fresh_until = source.tells_ttl.then(|| Instant::now() + ttl);
                Fetched::new(items, fresh_until, changes)
            }
            Err(ClientError::Refused(error)) if source.has_none(&error) => {
                let method = source.method;
                tracing::debug!(method, %error, "the server does not have this list");
                claim.clear();
                Fetched::none(source.declared, changes)
            }
            Err(error) => return Err(error),
        };
        let fetched = Arc::new(fetched);
        claim.keep();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::clone(&fetched));
        Ok(fetched)
    }
}

impl<F> Source<'_, F> {
    /// Whether an error means that there is no such list. Many servers declare resources and have no templates.
    fn has_none(&self, error: &RpcError) -> bool {
        !self.declared || error.code == error_code::METHOD_NOT_FOUND
    }
}

/// All items of a list, and how long they are fresh.
async fn all_pages<T, F, A, P>(
    source: &Source<'_, F>,
    claim: &Claim<'_>,
) -> Result<(Vec<T>, Duration), ClientError>
where
    F: Fn(Option<String>) -> A,
    A: Future<Output = Result<Weighed<P>, ClientError>>,
    P: Into<Page<T>>,
{
    const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

    let limits = source.limits;
    let (mut all, mut ttl, mut cursor) = (Vec::new(), A_DAY, None);
    for _ in 0..limits.lists.pages {
        let fetched = (source.fetch)(cursor).await?;
        claim.add(fetched.bytes, limits.lists.bytes)?;
        let page: Page<T> = fetched.page.into();
        all.extend(page.items);
        ttl = ttl.min(Duration::from_millis(page.ttl_ms.unwrap_or(0)));
        if all.len() > limits.lists.items {
            let most = limits.lists.items;
            return Err(ClientError::protocol(format!(
                "a list has more than {most} items"
            )));
        }
        cursor = match page.next {
            Some(next) => Some(next),
            None => return Ok((all, ttl)),
        };
    }
    let most = limits.lists.pages;
    Err(ClientError::protocol(format!(
        "a list has more than {most} pages"
    )))
}
