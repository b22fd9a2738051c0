//! List of the enabled entries of one kind, whose pages are written once for each revision.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use treenail_schema::{CacheScope, Revision};

use crate::entry::Entry;
use crate::json::json_text;
use crate::revision::ResultFormat;
use crate::server::config::ServerConfig;
use crate::server::registry::entries::EntryList;
use crate::server::registry::index::Index;
use crate::wire::{Params, RpcError, quoted, string};

/// Enabled entries of one kind, and the results of the method that lists them.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) index: Index,
    /// The pages of each revision in order, at least one. Each is written when it is first requested.
    pages: [Vec<OnceLock<Vec<u8>>>; Revision::ALL.len()],
    scope: CacheScope,
}

impl List {
    /// Lists the enabled `entries`; returns `old` if they have not changed.
    pub(crate) fn new(
        entries: &EntryList,
        old: Option<&Arc<Self>>,
        config: &ServerConfig,
    ) -> Arc<Self> {
        let kind = entries.kind();
        let entries: Vec<_> = entries.enabled().map(Arc::clone).collect();
        let scope = config.caching().scope;
        if let Some(old) = old.filter(|old| old.scope == scope && old.lists(&entries)) {
            return Arc::clone(old);
        }
        let index = Index::new(kind, entries, config.separator.as_deref());
        let pages = index.entries().len().max(1).div_ceil(page_size(config));
        let pages = vec![OnceLock::new(); pages];
        let pages = std::array::from_fn(|_| pages.clone());
        Arc::new(Self {
            index,
            pages,
            scope,
        })
    }

    /// Returns true if it lists exactly these entries.
    fn lists(&self, entries: &[Arc<Entry>]) -> bool {
        let own = self.index.entries();
        let mut pairs = own.iter().zip(entries);
        own.len() == entries.len() && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// Returns true if `other` lists the same entries.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.lists(other.index.entries())
    }

    /// Returns the page at a cursor.
    ///
    /// A cursor is the key of the first item of its page. It is valid on every replica of a server, and also after an edit has
    /// moved the item to the middle of a page. If the item has been removed, the cursor is unknown and the client starts over.
    pub(crate) fn page(
        &self,
        revision: Revision,
        params: &Params<'_>,
        config: &ServerConfig,
    ) -> Result<Cow<'_, [u8]>, RpcError> {
        let start = match params.cursor {
            None => 0,
            cursor => {
                let cursor = string("cursor", cursor)?;
                self.index.position(&cursor).ok_or_else(|| {
                    RpcError::invalid_params(format!("unknown cursor {}", quoted(&cursor)))
                })?
            }
        };
        let (size, style) = (page_size(config), &config.styles[revision.index()]);
        let written = self.pages[revision.index()].get(start / size);
        Ok(match written.filter(|_| start % size == 0) {
            Some(page) => {
                Cow::Borrowed(page.get_or_init(|| write_page(&self.index, start, style, config)))
            }
            None => Cow::Owned(write_page(&self.index, start, style, config)),
        })
    }
}

fn page_size(config: &ServerConfig) -> usize {
    config.page_size.max(1)
}

/// Writes the page whose first item is at `start`.
fn write_page(index: &Index, start: usize, style: &ResultFormat, config: &ServerConfig) -> Vec<u8> {
    let entries = index.entries();
    let end = entries.len().min(start.saturating_add(page_size(config)));
    let mut page = format!("{{\"{}\":[", index.kind().member()).into_bytes();
    for (position, entry) in entries[start..end].iter().enumerate() {
        if position > 0 {
            page.push(b',');
        }
        page.extend_from_slice(entry.descriptor.json(style).as_bytes());
    }
    page.push(b']');
    if let Some(next) = entries.get(end) {
        let cursor = json_text(next.key());
        page.extend_from_slice(format!(",\"nextCursor\":{cursor}").as_bytes());
    }
    if style.revision().is_modern() {
        let (ttl, scope) = (
            config.caching().ttl_ms(),
            json_text(&config.caching().scope),
        );
        page.extend_from_slice(format!(",\"ttlMs\":{ttl},\"cacheScope\":{scope}").as_bytes());
    }
    page.extend_from_slice(style.result_end());
    page.push(b'}');
    page
}
