//! Lists, written once for each revision.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use treenail_schema::{CacheScope, Revision};

use crate::definition::Entry;
use crate::revision::ResultFormat;
use crate::server::setup::Setup;
use crate::server::shelf::Shelf;
use crate::server::table::{Descriptor, Table};
use crate::wire::{RpcError, quoted};

/// How long clients may keep a list, and whether they may share it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caching {
    pub(crate) ttl: Duration,
    pub(crate) scope: CacheScope,
}

impl Caching {
    /// The time in whole milliseconds, within what every client can read exactly (2^53 - 1).
    pub(crate) fn ttl_ms(&self) -> u64 {
        const LARGEST: u64 = (1 << 53) - 1;
        u64::try_from(self.ttl.as_millis()).map_or(LARGEST, |ttl| ttl.min(LARGEST))
    }
}

/// Those of one kind, and the results of the method that lists them.
#[derive(Debug)]
pub(crate) struct Section<D, X = ()> {
    pub(crate) table: Table<D, X>,
    /// For each revision, the pages in order; at least one.
    pages: [Vec<Vec<u8>>; Revision::ALL.len()],
}

impl<D: Descriptor, X> Section<D, X> {
    /// What `shelf` offers; `old` itself if that is the same.
    pub(crate) fn new(shelf: &Shelf<D, X>, old: Option<&Arc<Self>>, setup: &Setup) -> Arc<Self> {
        let entries: Vec<_> = shelf.offered().map(Arc::clone).collect();
        if let Some(old) = old {
            let before = old.table.entries();
            let pairs = before.iter().zip(&entries);
            if before.len() == entries.len() && pairs.into_iter().all(|(a, b)| Arc::ptr_eq(a, b)) {
                return Arc::clone(old);
            }
        }
        let table = Table::new(entries, setup.separator.as_deref());
        let starts = || (0..table.entries().len().max(1)).step_by(page_size(setup));
        let pages = std::array::from_fn(|revision| {
            let style = &setup.styles[revision];
            let page = |start| write_page(table.entries(), start, style, setup);
            starts().map(page).collect()
        });
        Arc::new(Self { table, pages })
    }

    /// The result that a cursor asks for.
    ///
    /// A cursor is the key of the first item of its page, so it means the same on every replica of a server, and goes on
    /// from there also after an edit has moved the item to the middle of a page. Only if the item is gone nobody can say
    /// where to go on: then the cursor is unknown, and the client starts over.
    pub(crate) fn page(
        &self,
        revision: Revision,
        cursor: Option<&str>,
        setup: &Setup,
    ) -> Result<Cow<'_, [u8]>, RpcError> {
        let start = match cursor {
            None => 0,
            Some(cursor) => self.table.position(cursor).ok_or_else(|| {
                RpcError::invalid_params(format!("unknown cursor {}", quoted(cursor)))
            })?,
        };
        let (size, style) = (page_size(setup), &setup.styles[revision.index()]);
        let written = self.pages[revision.index()].get(start / size);
        Ok(match written.filter(|_| start % size == 0) {
            Some(page) => Cow::Borrowed(page),
            None => Cow::Owned(write_page(self.table.entries(), start, style, setup)),
        })
    }
}

fn page_size(setup: &Setup) -> usize {
    setup.page_size.max(1)
}

/// The page that begins with the item at `start`.
fn write_page<D: Descriptor, X>(
    entries: &[Arc<Entry<D, X>>],
    start: usize,
    style: &ResultFormat,
    setup: &Setup,
) -> Vec<u8> {
    let end = entries.len().min(start.saturating_add(page_size(setup)));
    let items = entries[start..end].iter();
    let items: Vec<_> = items.map(|entry| entry.descriptor.speak(style)).collect();
    let mut page = format!("{{\"{}\":{}", D::MEMBER, json!(items)).into_bytes();
    if let Some(next) = entries.get(end) {
        let cursor = next.descriptor.key();
        page.extend_from_slice(format!(",\"nextCursor\":{}", json!(cursor)).as_bytes());
    }
    if style.revision().is_modern() {
        let (ttl, scope) = (setup.caching.ttl_ms(), json!(setup.caching.scope));
        page.extend_from_slice(format!(",\"ttlMs\":{ttl},\"cacheScope\":{scope}").as_bytes());
    }
    page.extend_from_slice(style.result_end());
    page.push(b'}');
    page
}
