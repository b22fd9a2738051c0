//! Closing the stream on which a client waits for a call, so that no connection has to stay open for it.

use std::fmt;
use std::sync::Arc;

use crate::context::Context;

/// Closes the stream of a call, whose client then polls. An extension of calls whose transport can do that.
#[derive(Clone)]
pub struct StreamCloser(Arc<dyn Fn() + Send + Sync>);

impl StreamCloser {
    #[cfg(feature = "http-server")]
    /// Closes the stream with a function.
    pub fn new(close: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(close))
    }
}

impl fmt::Debug for StreamCloser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StreamCloser")
    }
}

impl Context {
    /// Closes the SSE stream on which the client waits for this call, without ending the call. The client reconnects after a
    /// second, and gets the messages of the call so far and its result. It is for functions that take minutes, because proxies and
    /// hosts close long connections.
    ///
    /// Only clients of revision 2025-11-25 over HTTP can reconnect; for others it has no effect. Calling it again closes the stream
    /// of the reconnected client.
    /// [`HttpLimits::stream_max_age`](crate::HttpLimits::stream_max_age) does it for all calls after a time.
    ///
    /// ```
    /// # use treenail::Context;
    /// async fn import(cx: &Context) -> &'static str {
    ///     cx.close_sse_stream();
    ///     // … some minutes of work …
    ///     "imported"
    /// }
    /// ```
    pub fn close_sse_stream(&self) {
        if let Some(StreamCloser(close)) = self.extension() {
            close();
        }
    }
}
