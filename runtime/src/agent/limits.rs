//! Every bound of a tool loop in one place.

use std::time::Duration;

/// The bounds of a run of a tool loop, each with a default that is safe with servers and models that are not trusted.
///
/// ```
/// use treenail_runtime::agent::ToolLoopLimits;
///
/// let limits = ToolLoopLimits { max_iterations: 3, ..ToolLoopLimits::default() };
/// assert_eq!(limits.parallel_calls, 8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolLoopLimits {
    /// Iterations: an iteration is a message of the model and the calls that it makes. If the last one still calls tools,
    /// the model is asked for one message more, in which it cannot, so that the run ends with an answer. At least 1.
    /// Default 10.
    pub max_iterations: u32,
    /// How long a run may take. The time in which nothing is done but wait for an approval does not count. Default 5 min.
    pub timeout: Duration,
    /// How long one call of a tool may take, questions of its server to the user included; then it is cancelled, and the
    /// model is told. Default 30 s.
    pub call_timeout: Duration,
    /// Bytes of what the model is told of one result; what is more is cut, and the model is told that. Default 64 KiB.
    pub result_bytes: usize,
    /// Calls of one message that run at once; the others wait for their turn. At least 1. Default 8.
    pub parallel_calls: usize,
    /// Calls that one message may make; those beyond are not run, and the model is told. Default 32.
    pub calls_per_message: usize,
    /// Bytes of one message of the model; a longer one ends the run with
    /// [`StopReason::MessageTooLong`](crate::agent::StopReason::MessageTooLong). Default 1 MiB.
    pub message_bytes: usize,
    /// Bytes of the conversation, as JSON. When there are more, the model is not asked again, and the run ends with
    /// [`StopReason::TranscriptFull`](crate::agent::StopReason::TranscriptFull). Default 8 MiB.
    pub transcript_bytes: usize,
    /// Tools that the model is offered, of all sources together; more are an error, because to leave some out would be
    /// silent. [`ToolSource::only`](crate::agent::ToolSource::only) chooses. Default 256.
    pub tools: usize,
    /// Events of progress that wait to be read; when there are more, the oldest are lost. Default 256.
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
