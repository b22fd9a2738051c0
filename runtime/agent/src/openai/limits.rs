//! Limits of a model behind an endpoint.

use std::time::Duration;

use treenail_runtime::client::{ClientLimits, HttpClientLimits};

/// Limits of an [`OpenAiModel`](crate::OpenAiModel). The defaults are safe with an untrusted endpoint.
///
/// ```
/// use treenail::agent::OpenAiLimits;
///
/// let limits = OpenAiLimits::default().retries(0);
/// assert_eq!(limits.message_bytes, 4 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg(feature = "openai")]
pub struct OpenAiLimits {
    /// Timeout for opening a connection, without TLS. Default 10 s.
    pub connect_timeout: Duration,
    /// Timeout for the first byte of a response; reasoning models may take long. Default 2 min.
    pub first_byte_timeout: Duration,
    /// Timeout between two chunks of a response. Default 2 min.
    pub idle_timeout: Duration,
    /// Timeout for a whole response, from the request to its end. Default 10 min.
    pub response_timeout: Duration,
    /// Maximum number of retries after transient failures. Default 3.
    pub retries: u32,
    /// Backoff before the first retry. It doubles with each retry, and up to half of it is random jitter. Default 1 s.
    pub initial_backoff: Duration,
    /// Maximum backoff. If the endpoint requests a longer one, the request fails at once and reports it
    /// ([`ModelError::Unavailable`](crate::ModelError::Unavailable)). Default 30 s.
    pub max_backoff: Duration,
    /// Maximum size of a message in bytes: its text, and the names and arguments of its calls. A longer one is an error.
    /// Default 4 MiB.
    pub message_bytes: usize,
    /// Maximum number of tool calls in a message; more are an error. Default 128.
    pub tool_calls: usize,
    /// Maximum size of one event of a stream, or of a whole response that is not streamed, in bytes. Default 8 MiB.
    pub event_bytes: usize,
    /// Maximum size of the response headers in bytes, at least 8 KiB. Default 64 KiB.
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
    /// Sets [`connect_timeout`](Self#structfield.connect_timeout).
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets [`first_byte_timeout`](Self#structfield.first_byte_timeout).
    #[must_use]
    pub fn first_byte_timeout(mut self, timeout: Duration) -> Self {
        self.first_byte_timeout = timeout;
        self
    }

    /// Sets [`idle_timeout`](Self#structfield.idle_timeout).
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets [`response_timeout`](Self#structfield.response_timeout).
    #[must_use]
    pub fn response_timeout(mut self, timeout: Duration) -> Self {
        self.response_timeout = timeout;
        self
    }

    /// Sets [`retries`](Self#structfield.retries).
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets [`initial_backoff`](Self#structfield.initial_backoff).
    #[must_use]
    pub fn initial_backoff(mut self, backoff: Duration) -> Self {
        self.initial_backoff = backoff;
        self
    }

    /// Sets [`max_backoff`](Self#structfield.max_backoff).
    #[must_use]
    pub fn max_backoff(mut self, backoff: Duration) -> Self {
        self.max_backoff = backoff;
        self
    }

    /// Sets [`message_bytes`](Self#structfield.message_bytes).
    #[must_use]
    pub fn message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }

    /// Sets [`tool_calls`](Self#structfield.tool_calls).
    #[must_use]
    pub fn tool_calls(mut self, calls: usize) -> Self {
        self.tool_calls = calls;
        self
    }

    /// Sets [`event_bytes`](Self#structfield.event_bytes).
    #[must_use]
    pub fn event_bytes(mut self, bytes: usize) -> Self {
        self.event_bytes = bytes;
        self
    }

    /// Sets [`header_bytes`](Self#structfield.header_bytes).
    #[must_use]
    pub fn header_bytes(mut self, bytes: usize) -> Self {
        self.header_bytes = bytes;
        self
    }
}

impl OpenAiLimits {
    /// Converts the limits for the HTTP client.
    pub(super) fn client_limits(&self) -> ClientLimits {
        ClientLimits::default().http(
            HttpClientLimits::default()
                .connect_timeout(self.connect_timeout)
                .header_bytes(self.header_bytes),
        )
    }
}
