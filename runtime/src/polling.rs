//! Clients that come back for an answer, so that no connection has to stay open for it.

use std::fmt;
use std::sync::Arc;

use crate::context::Context;

/// How the client of a call is told to come back; beside the call, if there is a way.
#[derive(Clone)]
pub(crate) struct ClientPolls(Arc<dyn Fn() + Send + Sync>);

impl ClientPolls {
    #[cfg(feature = "http-server")]
    pub(crate) fn new(close: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(close))
    }
}

impl fmt::Debug for ClientPolls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClientPolls")
    }
}

impl Context {
    /// Closes the connection on which the client waits for this call, without ending the call: the client comes back after
    /// a second, for what the call has sent by then and for its result. For functions that know that they take minutes,
    /// since proxies and hosts give up connections that are open for long.
    ///
    /// Clients of revision 2025-11-25 over HTTP can do that. For all others it does nothing: they wait as before. Calling it
    /// once more closes the connection on which the client has come back.
    /// [`HttpLimits::stream_max_age`](crate::HttpLimits::stream_max_age) does it for all calls after some time.
    ///
    /// ```
    /// # use treenail_runtime::Context;
    /// async fn import(cx: &Context) -> &'static str {
    ///     cx.close_sse_stream();
    ///     // … some minutes of work …
    ///     "imported"
    /// }
    /// ```
    pub fn close_sse_stream(&self) {
        if let Some(ClientPolls(close)) = self.extension() {
            close();
        }
    }
}
