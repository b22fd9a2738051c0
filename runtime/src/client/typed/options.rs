//! Options that typed calls and streams have in common.

/// Defines the options of a call with the method `map_request`.
macro_rules! options {
    ($call:ident) => {
        impl<T> $call<T> {
            /// Sets the timeout of the call. The time in which the handlers of the client answer the server is not counted.
            /// A list of tools that the call fetches first has the same timeout, beside that of the call itself.
            /// After the timeout, the call is cancelled and fails with [`ClientError::Timeout`]. Default:
            /// [`ClientLimits::request_timeout`](crate::client::ClientLimits::request_timeout).
            pub fn timeout(self, timeout: std::time::Duration) -> Self {
                self.map_request(|request| request.timeout(timeout))
            }

            /// Restarts the timeout at each progress notification and each item of a stream, up to `max_duration` in total.
            pub fn reset_timeout_on_progress(self, max_duration: std::time::Duration) -> Self {
                self.map_request(|request| request.reset_timeout_on_progress(max_duration))
            }

            /// Adds a member to the `_meta` of the request, for extensions and tracing.
            pub fn meta(self, key: &str, value: impl Into<serde_json::Value>) -> Self {
                self.map_request(|request| request.meta(key, value))
            }

            /// Requests the log messages of this call, of this level and above (modern era). In the legacy era, use
            /// `logging/setLevel` instead.
            pub fn log_level(self, level: treenail_schema::LoggingLevel) -> Self {
                self.map_request(|request| request.log_level(level))
            }
        }
    };
}

pub(super) use options;
