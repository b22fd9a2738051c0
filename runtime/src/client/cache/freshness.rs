//! Freshness of a list, by the TTLs of its pages.

use std::time::Duration;

use tokio::time::Instant;

use crate::retry::jitter;

/// Longest TTL of a page. A longer one counts as this.
const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Largest random delay of a periodic fetch, as a part of the time since the last one.
const MAX_JITTER: f64 = 0.05;

/// Freshness of a fetched list. Each page is fresh from its reception, and the list as long as all its pages.
#[derive(Debug)]
pub(super) struct Freshness {
    /// Time of the last page.
    fetched: Instant,
    end: Instant,
    /// No page has a TTL of zero.
    is_cacheable: bool,
    /// Random delay of the next periodic fetch, from 0 to 1. Chosen once, since the time of that fetch is computed repeatedly.
    jitter: f64,
}

impl Freshness {
    /// Creates the freshness of a list whose pages follow.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            fetched: now,
            end: now + MAX_TTL,
            is_cacheable: true,
            jitter: jitter(),
        }
    }

    /// Adds a page that has just been received. One without a TTL is stale at once.
    pub(super) fn add_page(&mut self, ttl_ms: Option<u64>) {
        let ttl = Duration::from_millis(ttl_ms.unwrap_or(0)).min(MAX_TTL);
        self.fetched = Instant::now();
        self.end = self.end.min(self.fetched + ttl);
        self.is_cacheable &= !ttl.is_zero();
    }

    /// Returns true until the first page expires.
    pub(super) fn is_fresh(&self) -> bool {
        Instant::now() < self.end
    }

    /// Returns the time of the next periodic fetch: the end of the freshness, or `min` after the last fetch if that is later, and a
    /// random delay. `None` if a page has a TTL of zero.
    pub(super) fn next_fetch(&self, min: Duration) -> Option<Instant> {
        let time = self.end.saturating_duration_since(self.fetched).max(min);
        let delay = time.mul_f64(self.jitter * MAX_JITTER);
        self.is_cacheable.then(|| self.fetched + time + delay)
    }
}
