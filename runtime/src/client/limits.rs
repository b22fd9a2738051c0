//! Limits of a client.

use std::time::Duration;

use treenail_contract::DriftLimits;
use treenail_schema::internal::limits;
pub use treenail_schema::internal::{HttpClientLimits, ValidationLimits};

use crate::limits::Limits;

limits! {
    /// Limits of a client. The defaults are safe with an untrusted server.
    ///
    /// ```
    /// use treenail::client::ClientLimits;
    ///
    /// let limits = ClientLimits::default().message_bytes(1 << 20);
    /// assert_eq!(limits.requests_in_flight, 256);
    /// ```
    struct ClientLimits {
        /// Maximum size of a message of the server in bytes. A longer one is dropped, and its request fails. Default 8 MiB.
        message_bytes: usize = 8 << 20,
        /// Maximum size of the result of `server/discover` or `initialize`, in bytes. With a longer one the connection fails.
        /// Default 1 MiB.
        handshake_bytes: usize = 1 << 20,
        /// Maximum estimated memory of a decoded result or error in bytes: a list of digits takes 60 times the bytes of its
        /// text. A larger one is not decoded, and its request fails. Default 128 MiB.
        decoded_bytes: usize = 128 << 20,
        /// Maximum nesting depth of a message of the server, up to 128. A deeper one is dropped. Default 128.
        message_depth: u32 = 128,
        /// Maximum size of the id of a server request in bytes, as written. A request with a longer one is dropped. Default
        /// 4 KiB.
        request_id_bytes: usize = 4 << 10,
        /// Maximum number of requests in flight; further ones are queued. Open subscriptions (`subscriptions/listen`) and waits
        /// for tasks (`tasks/result`) do not count: only the client opens them. Default 256.
        ///
        /// Over HTTP/2, each request is a stream of one connection, also one that does not count. A server that admits fewer
        /// streams delays the others, and also the answers to its own requests, so that calls which wait for these time out.
        /// Stay below its maximum then, which is 128 by default in nginx.
        requests_in_flight: usize = 256,
        /// Maximum size of the messages that the server has not read yet, in bytes. Above it, further requests are queued. If
        /// answers to more than `pending_server_requests` of its requests exceed it, no message of the server is read.
        /// Default 1 MiB.
        queued_output_bytes: usize = 1 << 20,
        /// Timeout of a request that sets none; for a list, of all its pages together. Time in which the handlers of the client
        /// answer the server is not counted. Default 60 s.
        request_timeout: Duration = Duration::from_secs(60),
        /// Timeout of the first request, `server/discover`. After it the server is assumed to be of the legacy era, in which
        /// unknown requests may stay unanswered. Also the timeout of a ping that finds out whether a server knows a session.
        /// Default 10 s.
        probe_timeout: Duration = Duration::from_secs(10),
        /// Maximum number of rounds in which a server of the modern era may request input for one request. One more fails the
        /// request. Default 16.
        input_rounds: u32 = 16,
        /// Maximum number of input requests in one round. With more, none is handled, and the request fails. Default 32.
        input_requests_per_round: usize = 32,
        /// Maximum number of pending requests of a server of the legacy era; further ones are refused. Default 32.
        pending_server_requests: usize = 32,
        /// Maximum number of unread notifications; when there are more, the oldest are dropped. Default 1,024.
        queued_notifications: usize = 1_024,
        /// Maximum size of the unread notifications in bytes, with the same consequence. Default 4 MiB.
        queued_notification_bytes: usize = 4 << 20,
        /// Timeout of each step of stopping a server process: for its exit after its input is closed, and again after SIGTERM.
        /// Default 2 s.
        shutdown_timeout: Duration = Duration::from_secs(2),
        /// Limits of lists.
        lists: ListLimits = ListLimits::default(),
        /// Limits of cached results.
        cache: CacheLimits = CacheLimits::default(),
        /// Limits of output validation, with the feature `validation`.
        validation: ValidationLimits = ValidationLimits::default(),
        /// Limits of comparing a server with a contract.
        drift: DriftLimits = DriftLimits::default(),
        /// Limits of the HTTP transport.
        http: HttpClientLimits = HttpClientLimits::default(),
        /// Limits of waiting for tasks, with the feature `tasks`.
        tasks: TaskWaitLimits = TaskWaitLimits::default(),
    }
}

impl ClientLimits {
    /// Converts the limits of one message for its reader.
    pub(crate) fn parsing(&self) -> Limits {
        Limits::default()
            .message_bytes(self.message_bytes)
            .message_depth(self.message_depth)
            .request_id_bytes(self.request_id_bytes)
            .batch_messages(usize::MAX)
    }
}

limits! {
    /// Limits of the lists of a server. Part of [`ClientLimits`].
    struct ListLimits {
        /// Maximum number of pages of a list. A longer list is an error. Default 1,000.
        pages: usize = 1_000,
        /// Maximum number of items of a list. A longer list is an error. Default 100,000.
        items: usize = 100_000,
        /// Maximum estimated memory of the lists of tools, prompts, resources and templates together, in bytes. A page that
        /// exceeds it is an error. While a list is fetched again, its predecessor does not count. Default 64 MiB.
        bytes: usize = 64 << 20,
    }
}

limits! {
    /// Limits of the cache of read resources. Part of [`ClientLimits`].
    struct CacheLimits {
        /// Maximum number of cached results; the oldest are evicted. A result is cached as long as the server allows. Default
        /// 256.
        results: usize = 256,
        /// Maximum size of cached results in bytes. Default 16 MiB.
        bytes: usize = 16 << 20,
    }
}

limits! {
    /// Limits of waiting for the tasks of a server. Part of [`ClientLimits`].
    struct TaskWaitLimits {
        /// Shortest interval between two polls of a task. A longer one of the server takes precedence. Default 100 ms.
        min_poll_interval: Duration = Duration::from_millis(100),
        /// Interval between two polls if the server gives none. Default 2 s.
        poll_interval: Duration = Duration::from_secs(2),
        /// Interval between two polls while the server pushes the changes of the task. A longer one of the server takes
        /// precedence. Default 1 min.
        pushed_poll_interval: Duration = Duration::from_secs(60),
        /// Longest interval between two polls, whatever the server gives. Default 10 min.
        max_poll_interval: Duration = Duration::from_secs(600),
        /// Maximum time from a failed poll without a successful one, after which the server counts as unreachable. Default 10 min.
        unreachable_timeout: Duration = Duration::from_secs(600),
        /// Maximum time of one wait for a task without a TTL, or with a longer one. Default 7 days.
        max_wait: Duration = Duration::from_secs(7 * 86_400),
        /// Maximum number of tasks whose changes are subscribed to at the same time; further ones are polled. Default 16.
        subscriptions: usize = 16,
        /// Maximum number of questions of one task. Default 1,024.
        questions: usize = 1_024,
    }
}
