//! Limits of comparing two contracts.

/// Limits of [`Contract::drift_within`](crate::Contract::drift_within). The defaults are safe with an untrusted server.
///
/// ```
/// use treenail::client::DriftLimits;
///
/// let limits = DriftLimits::default().changes(100).depth(32);
/// assert_eq!((limits.changes, limits.steps), (100, 250_000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriftLimits {
    /// Changes of each severity that a [`Drift`](crate::Drift) lists; further ones are counted. Default 1,000.
    pub changes: usize,
    /// Bytes of each text of a change; a longer text is cut around the first difference. Default 4 KiB.
    pub text_bytes: usize,
    /// Nesting depth to which two schemas are compared, referenced schemas included. If a schema differs, deeper parts
    /// count as breaking. Default 128.
    pub depth: u32,
    /// Steps of one comparison. A step is about a subschema, or 16 values of an enum. Parts that remain after the last step
    /// count as breaking if they differ. Default 250,000.
    pub steps: u64,
}

impl Default for DriftLimits {
    fn default() -> Self {
        Self {
            changes: 1_000,
            text_bytes: 4 << 10,
            depth: 128,
            steps: 250_000,
        }
    }
}

impl DriftLimits {
    /// Sets [`changes`](Self::changes).
    #[must_use]
    pub fn changes(mut self, changes: usize) -> Self {
        self.changes = changes;
        self
    }

    /// Sets [`text_bytes`](Self::text_bytes).
    #[must_use]
    pub fn text_bytes(mut self, bytes: usize) -> Self {
        self.text_bytes = bytes;
        self
    }

    /// Sets [`depth`](Self::depth).
    #[must_use]
    pub fn depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }

    /// Sets [`steps`](Self::steps).
    #[must_use]
    pub fn steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }
}
