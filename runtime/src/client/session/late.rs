//! Results that arrive although their requests were cancelled.

/// Receiver of the results of cancelled requests. A server may have sent a result before it read the cancellation.
pub(in crate::client) trait LateAnswers: Send + Sync {
    /// Receives the JSON text of a result.
    fn on_late_result(&self, text: String);
}
