//! Limits of the tool loop.

use std::time::Duration;

use treenail_schema::internal::limits;

limits! {
    /// Limits of a run of a tool loop. The defaults are safe with untrusted servers and models.
    ///
    /// ```
    /// use treenail::agent::ToolLoopLimits;
    ///
    /// let limits = ToolLoopLimits::default().max_iterations(3);
    /// assert_eq!(limits.parallel_calls, 8);
    /// ```
    struct ToolLoopLimits {
        /// Maximum number of iterations; an iteration is a model message and the calls in it. If the last one still contains
        /// calls, one more message is requested in which the model cannot call tools, so that the run ends with an answer. At
        /// least 1. Default 10.
        max_iterations: u32 = 10,
        /// Timeout of a run. Time spent only waiting for the user does not count: for approvals, and for answers to questions of
        /// servers. Default 5 min.
        timeout: Duration = Duration::from_secs(5 * 60),
        /// Timeout of one tool call, without the time for questions of its server to the user. Then the call is cancelled, and the
        /// model receives an error. Default 30 s.
        call_timeout: Duration = Duration::from_secs(30),
        /// Maximum size of the text of one result as the model receives it, in bytes. Longer texts are truncated, with a note to
        /// the model. Default 64 KiB.
        result_bytes: usize = 64 << 10,
        /// Maximum size of the images and audio of one result, in bytes of base64. They also have at most half of the room that
        /// is left of [`transcript_bytes`](Self::transcript_bytes), so that texts and further messages fit too. The model
        /// receives a note in place of those that do not fit. Default 2 MiB.
        media_bytes: usize = 2 << 20,
        /// Maximum number of calls of one message that run in parallel; the others are queued. At least 1. Default 8.
        parallel_calls: usize = 8,
        /// Maximum number of calls in one message. Further ones are not run, and the model receives an error. Default 32.
        calls_per_message: usize = 32,
        /// Maximum size of one model message, in bytes. A longer one ends the run with
        /// [`StopReason::MessageTooLong`](crate::StopReason::MessageTooLong). Default 1 MiB.
        message_bytes: usize = 1 << 20,
        /// Maximum size of the conversation as JSON, in bytes. When it is exceeded, no further message is requested, and the run
        /// ends with [`StopReason::TranscriptFull`](crate::StopReason::TranscriptFull). The last message and the texts of its
        /// results can exceed it. Images and audio of results cannot. Default 8 MiB.
        transcript_bytes: usize = 8 << 20,
        /// Maximum number of tokens of a run, input and output of all messages together, as the model reports them. When it is
        /// reached, no further message is requested, and the run ends with
        /// [`StopReason::TotalTokens`](crate::StopReason::TotalTokens). A model that reports no usage is not limited. Default: no
        /// limit.
        total_tokens: u64 = u64::MAX,
        /// Maximum number of tools of all sources together. More are an error, because dropping some would be silent;
        /// [`ToolSource::only`](crate::ToolSource::only) selects. Default 256.
        tools: usize = 256,
        /// Maximum number of unread progress events; when there are more, the oldest are dropped. Default 256.
        queued_progress: usize = 256,
        /// Maximum estimated memory of the unread progress events in bytes, with the same consequence. Default 4 MiB.
        queued_progress_bytes: usize = 4 << 20,
    }
}
