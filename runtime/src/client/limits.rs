//! Every bound of a client in one place.

use std::time::Duration;

use treenail_contract::DriftLimits;

use crate::limits::Limits;

/// The bounds of a client, each with a default that is safe with a server that is not trusted.
///
/// ```
/// use treenail_runtime::client::ClientLimits;
///
/// let limits = ClientLimits { message_bytes: 1 << 20, ..ClientLimits::default() };
/// assert_eq!(limits.requests_in_flight, 256);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// Bytes of one message of the server; a longer one is dropped, and the request that it answers fails. Default 8 MiB.
    pub message_bytes: usize,
    /// Bytes of the result with which a server introduces itself: that of `server/discover` or `initialize`. With a longer
    /// one, connecting fails. Default 1 MiB.
    pub handshake_bytes: usize,
    /// Estimated bytes of memory that a result or an error takes once it has been read: a list of digits takes 60 times the
    /// bytes of its text. One that would take more is not read, and its request fails. Default 128 MiB.
    pub decoded_bytes: usize,
    /// How deeply a message of the server may be nested, at most 128; a deeper one is dropped. Default 128.
    pub message_depth: u32,
    /// Bytes of the id of a request of the server, as it is written; a longer one is answered with -32600, without it.
    /// Default 4 KiB.
    pub request_id_bytes: usize,
    /// Requests that wait for their answers at once; further ones wait to be sent. Default 256.
    pub requests_in_flight: usize,
    /// Bytes of messages that the server has not taken yet. While there are more, further requests wait to be sent, and
    /// nothing more of the server is read. Default 1 MiB.
    pub queued_output_bytes: usize,
    /// How long a request may take, unless it says otherwise; for a list, all its pages together. Default 60 s.
    pub request_timeout: Duration,
    /// How long the server may take to say which revisions it speaks, before it is taken for one of the legacy era, which
    /// may leave unknown requests unanswered. Default 10 s.
    pub probe_timeout: Duration,
    /// Rounds in which a server of the modern era may ask before it finishes a request; the request fails then. Default 16.
    pub input_rounds: u32,
    /// Questions that a server of the modern era may ask in one round; with more, none is asked and the request fails.
    /// Default 32.
    pub round_questions: usize,
    /// Requests of a server of the legacy era that are being answered; further ones are refused. Default 32.
    pub open_questions: usize,
    /// Pages of a list; a longer list is an error. Default 1,000.
    pub list_pages: usize,
    /// Items of a list; a longer list is an error. Default 100,000.
    pub list_items: usize,
    /// Estimated bytes of memory of all lists together, those of tools, prompts, resources and templates; a page that exceeds
    /// them is an error. While a list is fetched again, its predecessor is not counted. Default 64 MiB.
    pub list_bytes: usize,
    /// Notifications that wait for one who listens; when there are more, the oldest are lost. Default 1,024.
    pub queued_notifications: usize,
    /// Bytes of notifications that wait for one who listens, with the same consequence. Default 4 MiB.
    pub queued_notification_bytes: usize,
    /// Results of reading that are kept for as long as the server allows; the oldest make room. Default 256.
    pub cached_results: usize,
    /// Bytes of results that are kept. Default 16 MiB.
    pub cached_bytes: usize,
    /// Bytes of the output schema of a tool, with the feature `validation`. A tool with a larger one is not called.
    /// Default 256 KiB.
    pub schema_bytes: usize,
    /// Subschemas of an output schema; with the same consequence. Default 10,000.
    pub subschemas: usize,
    /// How deeply the subschemas of an output schema may be nested, those that are referred to included, and how deeply
    /// they may be applied to what a tool has returned. Default 512.
    pub schema_depth: u32,
    /// Bytes that all compiled patterns of an output schema may take together. Default 16 MiB.
    pub pattern_bytes: usize,
    /// How often matching one text with one pattern may go back, where a pattern cannot do without. Default 10,000.
    pub pattern_backtracks: usize,
    /// Bytes of the texts, names and numbers of a result that are validated; a larger result is an error. Default 4 MiB.
    pub validated_bytes: usize,
    /// Steps that validating a result may take. A step is a subschema applied to a value, a few names looked up, or 16 bytes
    /// of a text looked at by one keyword; large patterns take several. What takes more is an error. More than a few
    /// steps are done on a thread for blocking work. Default 4,000,000.
    pub validation_steps: u64,
    /// Output schemas that are kept ready for use. Default 256.
    pub compiled_schemas: usize,
    /// Changes of each severity that a [`Drift`](crate::client::Drift) keeps; further ones are counted. Default 1,000.
    pub drift_changes: usize,
    /// Bytes of each text of a change: a longer one is cut to where it differs. Default 4 KiB.
    pub drift_text_bytes: usize,
    /// How deeply two schemas are compared, what they refer to included; what is deeper counts as breaking, if anything of
    /// the schema is different. Default 128.
    pub drift_depth: u32,
    /// How many steps comparing a server with a contract may take, where a step is about a subschema or 16 values of an
    /// enum; what is not compared after that counts as breaking, if it is different. Default 250,000.
    pub drift_steps: u64,
    /// Bytes of the headers of an HTTP response, at least 8 KiB; a response with more than about that fails its request.
    /// Default 64 KiB.
    pub http_header_bytes: usize,
    /// Redirects of one request that are followed: only those that keep the method (307 and 308) and stay within the origin.
    /// Default 5.
    pub http_redirects: u32,
    /// Informational responses (1xx) before the head of a stream that no request waits for; with more, the stream is not
    /// read. Default 100.
    pub http_informational_responses: u32,
    /// How long it may take to open a connection to an HTTP server, TLS not included. Default 10 s.
    pub connect_within: Duration,
    /// How often in a row an HTTP server of the legacy era is asked for the rest of a stream that has broken off, without
    /// anything coming of it, before the request that waits for the rest fails. Default 8.
    pub resume_attempts: u32,
    /// How long a server that has been told to end may take, at each step: to end by itself after its input was closed,
    /// and after it was asked to terminate. Default 2 s.
    pub shutdown_within: Duration,
}

impl ClientLimits {
    /// The bounds of comparing a server with a contract.
    pub(crate) fn drift(&self) -> DriftLimits {
        DriftLimits::default()
            .changes(self.drift_changes)
            .text_bytes(self.drift_text_bytes)
            .depth(self.drift_depth)
            .steps(self.drift_steps)
    }

    /// The bounds of one message, for those who read it.
    pub(crate) fn parsing(&self) -> Limits {
        Limits {
            message_bytes: self.message_bytes,
            message_depth: self.message_depth,
            request_id_bytes: self.request_id_bytes,
            batch_messages: usize::MAX,
            ..Limits::default()
        }
    }
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            message_bytes: 8 << 20,
            handshake_bytes: 1 << 20,
            decoded_bytes: 128 << 20,
            message_depth: 128,
            request_id_bytes: 4 << 10,
            requests_in_flight: 256,
            queued_output_bytes: 1 << 20,
            request_timeout: Duration::from_secs(60),
            probe_timeout: Duration::from_secs(10),
            input_rounds: 16,
            round_questions: 32,
            open_questions: 32,
            list_pages: 1_000,
            list_items: 100_000,
            list_bytes: 64 << 20,
            queued_notifications: 1_024,
            queued_notification_bytes: 4 << 20,
            cached_results: 256,
            cached_bytes: 16 << 20,
            schema_bytes: 256 << 10,
            subschemas: 10_000,
            schema_depth: 512,
            pattern_bytes: 16 << 20,
            pattern_backtracks: 10_000,
            validated_bytes: 4 << 20,
            validation_steps: 4_000_000,
            compiled_schemas: 256,
            drift_changes: 1_000,
            drift_text_bytes: 4 << 10,
            drift_depth: 128,
            drift_steps: 250_000,
            http_header_bytes: 64 << 10,
            http_redirects: 5,
            http_informational_responses: 100,
            connect_within: Duration::from_secs(10),
            resume_attempts: 8,
            shutdown_within: Duration::from_secs(2),
        }
    }
}
