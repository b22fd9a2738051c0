//! What has been read, kept for as long as the server allows.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use treenail_schema::ReadResourceResult;

use crate::client::ClientLimits;

/// The results of reading that are fresh, by URI. It belongs to one client, so private results may be in it.
#[derive(Debug, Default)]
pub(super) struct Reads {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Box<str>, Entry>,
    /// From the oldest on; an entry that has been replaced is in it twice, with another number.
    order: VecDeque<(u64, Box<str>)>,
    last: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    result: Arc<ReadResourceResult>,
    bytes: usize,
    fresh_until: Instant,
    changes: u64,
}

impl Reads {
    /// The result of reading `uri`, if it may still be taken; `changes` counts those that the server has told of.
    pub(super) fn get(&self, uri: &str, changes: u64) -> Option<Arc<ReadResourceResult>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = state.entries.get(uri)?;
        if entry.changes == changes && Instant::now() < entry.fresh_until {
            return Some(Arc::clone(&entry.result));
        }
        state.remove(uri);
        None
    }

    /// Keeps a result for as long as it says, within the bounds.
    pub(super) fn keep(
        &self,
        uri: &str,
        result: &Arc<ReadResourceResult>,
        changes: u64,
        limits: &ClientLimits,
    ) {
        const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

        let ttl = Duration::from_millis(result.ttl_ms.unwrap_or(0)).min(A_DAY);
        let bytes = size(result) + 2 * uri.len();
        if ttl.is_zero() || bytes > limits.cache.bytes {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.remove(uri);
        state.last += 1;
        let number = state.last;
        state.order.push_back((number, uri.into()));
        state.bytes += bytes;
        let entry = Entry {
            number,
            result: Arc::clone(result),
            bytes,
            fresh_until: Instant::now() + ttl,
            changes,
        };
        state.entries.insert(uri.into(), entry);
        state.make_room(limits);
    }
}

impl State {
    fn remove(&mut self, uri: &str) {
        if let Some(entry) = self.entries.remove(uri) {
            self.bytes -= entry.bytes;
        }
    }

    /// Lets the oldest go.
    fn make_room(&mut self, limits: &ClientLimits) {
        let most = limits.cache.results;
        while self.bytes > limits.cache.bytes || self.order.len() > most {
            let Some((number, uri)) = self.order.pop_front() else {
                break;
            };
            if self
                .entries
                .get(&uri)
                .is_some_and(|entry| entry.number == number)
            {
                self.remove(&uri);
            }
        }
    }
}

/// About how many bytes a result takes.
fn size(result: &ReadResourceResult) -> usize {
    use treenail_schema::ResourceContents;

    let contents = result.contents.iter().map(|contents| {
        let data = match contents {
            ResourceContents::Text(text) => text.text.len(),
            ResourceContents::Blob(blob) => blob.blob.len(),
            _ => 0,
        };
        data + contents.uri().len() + 64
    });
    contents.sum()
}
