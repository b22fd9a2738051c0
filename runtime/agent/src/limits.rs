//! Limits of the tool loop.

use std::time::Duration;

/// Limits of a run of a tool loop. The defaults are safe with untrusted servers and models.
///
/// ```
/// use treenail::agent::ToolLoopLimits;
///
/// let limits = ToolLoopLimits::default().max_iterations(3);
/// assert_eq!(limits.parallel_calls, 8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolLoopLimits {
    /// Maximum number of iterations; an iteration is a model message and the calls in it. If the last one still contains
    /// calls, one more message is requested in which the model cannot call tools, so that the run ends with an answer. At
    /// least 1. Default 10.
    pub max_iterations: u32,
    /// Timeout of a run. Time spent only waiting for approvals does not count. Default 5 min.
    pub timeout: Duration,
    /// Timeout of one tool call, including requests of its server to the user. Then the call is cancelled, and the model
    /// receives an error. Default 30 s.
    pub call_timeout: Duration,
    /// Maximum size of one result as the model receives it, in bytes. Longer results are truncated, with a note to the
    /// model. Default 64 KiB.
    pub result_bytes: usize,
    /// Maximum number of calls of one message that run in parallel; the others are queued. At least 1. Default 8.
    pub parallel_calls: usize,
    /// Maximum number of calls in one message. Further ones are not run, and the model receives an error. Default 32.
    pub calls_per_message: usize,
    /// Maximum size of one model message, in bytes. A longer one ends the run with
    /// [`StopReason::MessageTooLong`](crate::StopReason::MessageTooLong). Default 1 MiB.
    pub message_bytes: usize,
    /// Maximum size of the conversation as JSON, in bytes. When it is exceeded, no further message is requested, and the run
    /// ends with [`StopReason::TranscriptFull`](crate::StopReason::TranscriptFull). Default 8 MiB.
    pub transcript_bytes: usize,
    /// Maximum number of tools of all sources together. More are an error, because dropping some would be silent;
    /// [`ToolSource::only`](crate::ToolSource::only) selects. Default 256.
    pub tools: usize,
    /// Maximum number of unread progress events; when there are more, the oldest are dropped. Default 256.
    pub queued_progress: usize,
}

impl Default for ToolLoopLimits {
    fn default() -> Self {
        Self {
            max_iterations: 10,
            timeout: Duration::from_secs(5 * 60),
            call_timeout: Duration::from_secs(30),
            result_bytes: 64 << 10,
            parallel_calls: 8,
            calls_per_message: 32,
            message_bytes: 1 << 20,
            transcript_bytes: 8 << 20,
            tools: 256,
            queued_progress: 256,
        }
    }
}

impl ToolLoopLimits {
    /// Sets [`max_iterations`](Self#structfield.max_iterations).
    #[must_use]
    pub fn max_iterations(mut self, iterations: u32) -> Self {
        self.max_iterations = iterations;
        self
    }

    /// Sets [`timeout`](Self#structfield.timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets [`call_timeout`](Self#structfield.call_timeout).
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = timeout;
        self
    }

    /// Sets [`result_bytes`](Self#structfield.result_bytes).
    #[must_use]
    pub fn result_bytes(mut self, bytes: usize) -> Self {
        self.result_bytes = bytes;
        self
    }

    /// Sets [`parallel_calls`](Self#structfield.parallel_calls).
    #[must_use]
    pub fn parallel_calls(mut self, calls: usize) -> Self {
        self.parallel_calls = calls;
        self
    }

    /// Sets [`calls_per_message`](Self#structfield.calls_per_message).
    #[must_use]
    pub fn calls_per_message(mut self, calls: usize) -> Self {
        self.calls_per_message = calls;
        self
    }

    /// Sets [`message_bytes`](Self#structfield.message_bytes).
    #[must_use]
    pub fn message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }

    /// Sets [`transcript_bytes`](Self#structfield.transcript_bytes).
    #[must_use]
    pub fn transcript_bytes(mut self, bytes: usize) -> Self {
        self.transcript_bytes = bytes;
        self
    }

    /// Sets [`tools`](Self#structfield.tools).
    #[must_use]
    pub fn tools(mut self, tools: usize) -> Self {
        self.tools = tools;
        self
    }

    /// Sets [`queued_progress`](Self#structfield.queued_progress).
    #[must_use]
    pub fn queued_progress(mut self, events: usize) -> Self {
        self.queued_progress = events;
        self
    }
}
