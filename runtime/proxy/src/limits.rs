//! Limits of a proxy.

use std::time::Duration;

use treenail_schema::internal::limits;

/// Maximum size of the URI or template of a resource in bytes. Longer ones are not served, and updates of them are not remembered.
pub(crate) const MAX_URI_BYTES: usize = 8 << 10;

/// Maximum number of bytes of URIs that are compared with templates at once, for example those of one result. The bytes of a URI
/// count once for each template. Both texts may be those of the server, which could block the proxy with them.
pub(crate) const MAX_COMPARED_BYTES: usize = 128 << 20;

limits! {
    /// Limits of a [`Proxy`](crate::Proxy). The defaults are safe with untrusted servers and clients. Those of the connections to
    /// the servers are the [`ClientLimits`](treenail_runtime::client::ClientLimits) of each client.
    ///
    /// ```
    /// use std::time::Duration;
    /// use treenail::proxy::ProxyLimits;
    ///
    /// let limits = ProxyLimits::default().call_timeout(Duration::from_secs(20));
    /// assert_eq!(limits.waiting_calls, 256);
    /// ```
    struct ProxyLimits {
        /// Timeout of a call of a server. It restarts with each progress notification, and pauses while a client is asked or
        /// a user signs in. It continues while the caller accepts no messages. Default 60 s.
        call_timeout: Duration = Duration::from_secs(60),
        /// Maximum duration of a call with progress, without such pauses. Default 1 h.
        call_duration: Duration = Duration::from_secs(60 * 60),
        /// Maximum number of calls that wait at a server of the legacy era for the next round of a client of the modern era. The
        /// question of one more is refused. Default 256.
        ///
        /// Of the calls of one connection, at most half of [`requests_in_flight`] wait, and over HTTP at most
        /// [`pending_server_requests`]; of one client, half of that. This leaves room for other clients.
        ///
        /// [`requests_in_flight`]: treenail_runtime::client::ClientLimits::requests_in_flight
        /// [`pending_server_requests`]: treenail_runtime::client::ClientLimits::pending_server_requests
        waiting_calls: usize = 256,
        /// Maximum number of such calls of one client: of a principal, or else of a connection. Clients over HTTP without
        /// principals cannot be distinguished, and share `waiting_calls`. Default 64.
        waiting_calls_per_client: usize = 64,
        /// Maximum time of such a wait. After it the call is cancelled. Default 5 min.
        waiting_timeout: Duration = Duration::from_secs(5 * 60),
        /// Maximum number of messages of a server for one call that have not been passed on. Of further ones, progress and log
        /// messages are dropped, and requests refused. Default 64.
        queued_messages: usize = 64,
        /// Maximum size of the parameters of a request of a server in bytes. A larger one is refused. Default 256 KiB.
        question_bytes: usize = 256 << 10,
        /// Maximum number of tools, prompts, resources and templates of one server. Further ones are not served. Default 10,000.
        features: usize = 10_000,
        /// Maximum number of resources of one server that are subscribed to. Default 1,000.
        subscriptions: usize = 1_000,
        /// Least time between two refreshes of the lists of a server. Default 200 ms.
        refresh_interval: Duration = Duration::from_millis(200),
        /// Delay after the first failure to connect; it doubles with each further one. Default 500 ms.
        initial_backoff: Duration = Duration::from_millis(500),
        /// Maximum delay between attempts to connect. Default 30 s.
        max_backoff: Duration = Duration::from_secs(30),
        /// Timeout of one attempt to connect, with the handshake and the lists, and of later fetches of the lists. A list without
        /// an answer in this time stays as it was, and is fetched again. It pauses while a user signs in. Default 60 s.
        connect_timeout: Duration = Duration::from_secs(60),
    }
}
