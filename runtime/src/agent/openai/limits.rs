//! Every bound of a model behind an endpoint in one place.

use std::time::Duration;

use crate::client::ClientLimits;

/// The bounds of an [`OpenAiModel`](crate::agent::OpenAiModel), each with a default that is safe with an endpoint that is
/// not trusted.
///
/// ```
/// use treenail_runtime::agent::OpenAiLimits;
///
/// let limits = OpenAiLimits { retries: 0, ..OpenAiLimits::default() };
/// assert_eq!(limits.message_bytes, 4 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAiLimits {
    /// How long it may take to open a connection, TLS not included. Default 10 s.
    pub connect_timeout: Duration,
    /// How long the endpoint may take until the first byte of its answer; models that think may take long. Default 2 min.
    pub first_byte_timeout: Duration,
    /// How long nothing may come in the middle of an answer. Default 2 min.
    pub idle_timeout: Duration,
    /// How long one answer may take, from the request to its end. Default 10 min.
    pub response_timeout: Duration,
    /// How often a request that has failed for a time is made again. Default 3.
    pub retries: u32,
    /// The pause before the first of them, of which chance takes up to a half. It doubles each time. Default 1 s.
    pub initial_backoff: Duration,
    /// The longest pause. If the endpoint wants a longer one, the request fails at once and tells how long that is
    /// ([`ModelError::Unavailable`](crate::agent::ModelError::Unavailable)). Default 30 s.
    pub max_backoff: Duration,
    /// Bytes of a message: its text, and the names and arguments of its calls. A longer one fails. Default 4 MiB.
    pub message_bytes: usize,
    /// Calls of tools in a message; a message with more fails. Default 128.
    pub tool_calls: usize,
    /// Bytes of one event of a stream, or of a whole answer that is no stream. Default 8 MiB.
    pub event_bytes: usize,
    /// Bytes of the headers of a response, at least 8 KiB. Default 64 KiB.
    pub header_bytes: usize,
}

impl Default for OpenAiLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(120),
            response_timeout: Duration::from_secs(600),
            retries: 3,
            initial_backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(30),
            message_bytes: 4 << 20,
            tool_calls: 128,
            event_bytes: 8 << 20,
            header_bytes: 64 << 10,
        }
    }
}

impl OpenAiLimits {
    /// What the HTTP library wants to know.
    pub(super) fn client_limits(&self) -> ClientLimits {
        ClientLimits {
            connect_timeout: self.connect_timeout,
            http_header_bytes: self.header_bytes,
            ..ClientLimits::default()
        }
    }
}
