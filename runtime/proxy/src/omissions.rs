//! Warnings about features of a server that are not served.

use std::cell::Cell;

use treenail_runtime::internal::LogThrottle;
use treenail_schema::internal::quoted;

/// Maximum number of features that get a warning each.
const MAX_WARNINGS: usize = 10;

/// Features that one refresh of the lists omits. The first ones get a warning each, and the others a common one. There are no
/// warnings shortly after those of another refresh.
pub(crate) struct Omissions<'a> {
    server: &'a str,
    throttle: &'a LogThrottle,
    /// Set by the first omission.
    is_due: Cell<Option<bool>>,
    single: Cell<usize>,
}

impl<'a> Omissions<'a> {
    pub(crate) fn new(server: &'a str, throttle: &'a LogThrottle) -> Self {
        Self {
            server,
            throttle,
            is_due: Cell::new(None),
            single: Cell::new(0),
        }
    }

    /// Notes one feature. `problem` is a clause.
    pub(crate) fn one(&self, kind: &str, name: &str, problem: &str) {
        let number = self.single.get() + 1;
        self.single.set(number);
        if number <= MAX_WARNINGS && self.is_due() {
            let (server, name) = (self.server, quoted(name));
            tracing::warn!(%server, kind, name, problem, "omitted a feature of a server");
        }
    }

    /// Notes several features of one problem.
    pub(crate) fn several(&self, count: usize, problem: &str) {
        if count > 0 && self.is_due() {
            tracing::warn!(server = %self.server, count, problem, "omitted features of a server");
        }
    }

    fn is_due(&self) -> bool {
        let is_due = self.is_due.get().unwrap_or_else(|| self.throttle.is_due());
        self.is_due.set(Some(is_due));
        is_due
    }
}

impl Drop for Omissions<'_> {
    fn drop(&mut self) {
        let further = self.single.get().saturating_sub(MAX_WARNINGS);
        self.several(further, "they have problems like those before");
    }
}
