//! Lists, written once for each revision.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use treenail_schema::{CacheScope, Revision};

use crate::revision::Style;
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

/// The results of one method that lists.
#[derive(Debug)]
pub(crate) struct List {
    /// For each revision, the pages in order; at least one.
    pages: [Vec<Vec<u8>>; Revision::ALL.len()],
    /// Which page a cursor asks for. A cursor is the key of the first item of its page, so it means the same on every
    /// replica of a server.
    cursors: HashMap<Box<str>, usize>,
}

impl List {
    pub(crate) fn new<D: Descriptor>(
        table: &Table<D>,
        styles: &[Style; Revision::ALL.len()],
        caching: &Caching,
        size: usize,
    ) -> Self {
        let items: Vec<&D> = table
            .entries()
            .iter()
            .map(|entry| &entry.descriptor)
            .collect();
        let mut pages: Vec<&[&D]> = items.chunks(size.max(1)).collect();
        if pages.is_empty() {
            pages.push(&[]);
        }
        let write = |style: &Style| -> Vec<Vec<u8>> {
            let next = |page: usize| pages.get(page + 1).map(|page| page[0].key());
            pages
                .iter()
                .enumerate()
                .map(|(page, items)| write_page(items, next(page), style, caching))
                .collect()
        };
        let first = |(page, items): (usize, &&[&D])| Some((items.first()?.key().into(), page));
        Self {
            pages: std::array::from_fn(|index| write(&styles[index])),
            cursors: pages.iter().enumerate().filter_map(first).collect(),
        }
    }

    /// The result that a cursor asks for.
    pub(crate) fn page(&self, revision: Revision, cursor: Option<&str>) -> Result<&[u8], RpcError> {
        let page = match cursor {
            None => Some(0),
            Some(cursor) => self.cursors.get(cursor).copied(),
        };
        page.and_then(|page| self.pages[revision.index()].get(page))
            .map(Vec::as_slice)
            .ok_or_else(|| {
                RpcError::invalid_params(format!(
                    "unknown cursor {}",
                    quoted(cursor.unwrap_or_default())
                ))
            })
    }
}

fn write_page<D: Descriptor>(
    items: &[&D],
    next_cursor: Option<&str>,
    style: &Style,
    caching: &Caching,
) -> Vec<u8> {
    let items: Vec<_> = items.iter().map(|item| item.speak(style)).collect();
    let mut page = format!("{{\"{}\":{}", D::MEMBER, json!(items)).into_bytes();
    if let Some(cursor) = next_cursor {
        page.extend_from_slice(format!(",\"nextCursor\":{}", json!(cursor)).as_bytes());
    }
    if style.revision().is_modern() {
        let hints = format!(
            ",\"ttlMs\":{},\"cacheScope\":{}",
            caching.ttl_ms(),
            json!(caching.scope)
        );
        page.extend_from_slice(hints.as_bytes());
    }
    page.extend_from_slice(style.result_end());
    page.push(b'}');
    page
}
