//! Limits of a model behind an endpoint.

use std::time::Duration;

use treenail_http_client::HttpClientLimits;
use treenail_schema::internal::limits;

limits! {
    /// Limits of an [`OpenAiModel`](crate::OpenAiModel). The defaults are safe with an untrusted endpoint.
    ///
    /// ```
    /// use treenail::agent::OpenAiLimits;
    ///
    /// let limits = OpenAiLimits::default().retries(0);
    /// assert_eq!(limits.message_bytes, 4 << 20);
    /// ```
    #[cfg(feature = "openai")]
    struct OpenAiLimits {
        /// Timeout for opening a connection: the look-up of its name, TCP, the tunnel of a proxy and TLS together. Default 10 s.
        connect_timeout: Duration = Duration::from_secs(10),
        /// Timeout for the first byte of a response; reasoning models may take long. Default 2 min.
        first_byte_timeout: Duration = Duration::from_secs(120),
        /// Timeout between two chunks of a response. Default 2 min.
        idle_timeout: Duration = Duration::from_secs(120),
        /// Timeout for a whole response, from the request to its end. Default 10 min.
        response_timeout: Duration = Duration::from_secs(600),
        /// Maximum number of retries after transient failures. Default 3.
        retries: u32 = 3,
        /// Backoff before the first retry. It doubles with each retry, and up to half of it is random jitter. Default 1 s.
        initial_backoff: Duration = Duration::from_secs(1),
        /// Maximum backoff. If the endpoint requests a longer one, the request fails at once and reports it
        /// ([`ModelError::Unavailable`](crate::ModelError::Unavailable)). Default 30 s.
        max_backoff: Duration = Duration::from_secs(30),
        /// Maximum size of a message in bytes: its text, and the names and arguments of its calls. A longer one is an error.
        /// Default 4 MiB.
        message_bytes: usize = 4 << 20,
        /// Maximum number of tool calls in a message; more are an error. Default 128.
        tool_calls: usize = 128,
        /// Maximum size of one event of a stream, or of a whole response that is not streamed, in bytes. Default 8 MiB.
        event_bytes: usize = 8 << 20,
        /// Maximum size of the response headers in bytes, at least 8 KiB. Default 64 KiB.
        header_bytes: usize = 64 << 10,
    }
}

impl OpenAiLimits {
    /// Converts the limits for the HTTP client.
    pub(super) fn http(&self) -> HttpClientLimits {
        HttpClientLimits::default()
            .connect_timeout(self.connect_timeout)
            .header_bytes(self.header_bytes)
    }
}
