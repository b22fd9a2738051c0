//! Lists, written once for each revision.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use treenail_schema::{CacheScope, Revision, Tool};

use crate::revision::Style;
use crate::server::tools::ToolTable;
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

/// The results of `tools/list`.
#[derive(Debug)]
pub(crate) struct Lists {
    /// For each revision, the pages in order.
    tools: [Vec<Vec<u8>>; Revision::ALL.len()],
    /// Which page a cursor asks for. A cursor is the name of the first tool of its page, so it means the same on every
    /// replica of a server.
    pages: HashMap<Box<str>, usize>,
}

impl Lists {
    pub(crate) fn new(
        tools: &ToolTable,
        styles: &[Style; Revision::ALL.len()],
        caching: &Caching,
        size: usize,
    ) -> Self {
        let tools: Vec<&Tool> = tools.descriptors().collect();
        let pages: Vec<&[&Tool]> = tools.chunks(size.max(1)).collect();
        let write = |style: &Style| -> Vec<Vec<u8>> {
            let next = |page: usize| pages.get(page + 1).map(|page| page[0].name.as_str());
            pages
                .iter()
                .enumerate()
                .map(|(page, tools)| write_page(tools, next(page), style, caching))
                .collect()
        };
        Self {
            tools: std::array::from_fn(|index| write(&styles[index])),
            pages: pages
                .iter()
                .enumerate()
                .map(|(page, tools)| (tools[0].name.as_str().into(), page))
                .collect(),
        }
    }

    /// The result of `tools/list` that a cursor asks for.
    pub(crate) fn tools(
        &self,
        revision: Revision,
        cursor: Option<&str>,
    ) -> Result<&[u8], RpcError> {
        let page = match cursor {
            None => Some(0),
            Some(cursor) => self.pages.get(cursor).copied(),
        };
        page.and_then(|page| self.tools[revision.index()].get(page))
            .map(Vec::as_slice)
            .ok_or_else(|| {
                RpcError::invalid_params(format!(
                    "unknown cursor {}",
                    quoted(cursor.unwrap_or_default())
                ))
            })
    }
}

fn write_page(
    tools: &[&Tool],
    next_cursor: Option<&str>,
    style: &Style,
    caching: &Caching,
) -> Vec<u8> {
    let tools: Vec<_> = tools.iter().map(|tool| style.tool(tool)).collect();
    let mut page = format!("{{\"tools\":{}", json!(tools)).into_bytes();
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
