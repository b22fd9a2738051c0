//! Limits of comparing two contracts.

use treenail_schema::internal::limits;

limits! {
    /// Limits of [`Contract::drift_within`](crate::Contract::drift_within). The defaults are safe with an untrusted server.
    ///
    /// ```
    /// use treenail::client::DriftLimits;
    ///
    /// let limits = DriftLimits::default().changes(100).depth(32);
    /// assert_eq!((limits.changes, limits.steps), (100, 250_000));
    /// ```
    struct DriftLimits {
        /// Changes of each severity that a [`Drift`](crate::Drift) lists; further ones are counted. Default 1,000.
        changes: usize = 1_000,
        /// Bytes of each text of a change; a longer text is cut around the first difference. Default 4 KiB.
        text_bytes: usize = 4 << 10,
        /// Nesting depth to which two schemas are compared, referenced schemas included. If a schema differs, deeper parts
        /// count as breaking. Default 128.
        depth: u32 = 128,
        /// Steps of one comparison. A step is about a subschema, 8 of its keywords if it has many, or 16 values of an enum.
        /// Parts that remain after the last step count as breaking if they differ. Default 250,000.
        steps: u64 = 250_000,
    }
}
