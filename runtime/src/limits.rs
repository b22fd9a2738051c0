//! Limits of a server.

use std::time::Duration;

use treenail_schema::internal::limits;

use crate::wire::ParseLimits;

limits! {
    /// Limits of a server. The defaults are safe for a dedicated process with untrusted clients.
    ///
    /// The worst case over HTTP is the sum of the products below, with all clients hostile at once. A body or a list that
    /// grows may have allocated twice its length:
    ///
    /// | resource | maximum size of each | maximum number |
    /// |---|---|---|
    /// | connections, reading headers | `http.header_bytes` | `http.connections` |
    /// | connections, reading a body | `message_bytes` | `http.connections` |
    /// | arguments of a call | size of their type: 5 times their text as a `Vec<i64>`, up to 100 times as a `Value` | running calls |
    /// | connections, writing a response | `http.header_bytes`, and 16 KiB, one larger message, or `batch_response_bytes` and one message | `http.connections` |
    /// | results and streams | `queued_messages`, each as long as the function makes it, plus a token | running calls |
    /// | results of streaming tools | twice `streams.bytes` | running calls |
    /// | running calls | memory of the function, request id, the text of `_meta`, and of calls that ask the client the texts of arguments and answers | `server_calls_in_flight` |
    /// | sessions | 5 KiB, `handshake_bytes`, and `http.session_bytes` or one larger event | `http.sessions` |
    /// | lists of callers that see different items | their tools, prompts, resources and templates | `cached_views` |
    /// | subscriptions | `subscriptions.resources` of `subscriptions.bytes` | `http.listen_streams` and `http.sessions` |
    ///
    /// An idle session takes about 4 KiB, and a connection with an idle stream about 20 KiB. Sessions have the largest
    /// product, so lower `http.sessions` or `http.session_bytes` where memory is scarce. Each connection needs a file
    /// descriptor; if the process has fewer than `http.connections`, further clients wait as well.
    ///
    /// ```
    /// use treenail::Limits;
    /// use treenail::limits::HttpLimits;
    ///
    /// let limits = Limits::default()
    ///     .message_bytes(1 << 20)
    ///     .http(HttpLimits::default().connections(64));
    /// assert_eq!(limits.calls_in_flight, 256);
    /// ```
    struct Limits {
        /// Maximum size of an incoming message in bytes, without its line end. A longer one is answered with -32600. Default
        /// 4 MiB.
        message_bytes: usize = 4 << 20,
        /// Maximum nesting depth of an incoming message, up to 128. A deeper one is answered with -32600. Default 64.
        message_depth: u32 = 64,
        /// Maximum size of a request id in bytes, as written. A longer one is answered with -32600, without its id. A call
        /// stores its id once, and each of its responses repeats it. Default 4 KiB.
        request_id_bytes: usize = 4 << 10,
        /// Maximum number of messages in a batch (revision 2025-03-26). A longer batch is answered with -32600. Default 128.
        batch_messages: usize = 128,
        /// Size of the responses to a batch in bytes, above which its further requests are answered with -32603: they are not
        /// handled, or, if their calls were running already, their results are left out. The response may exceed it by one
        /// result and the errors. Default 4 MiB.
        batch_response_bytes: usize = 4 << 20,
        /// Maximum number of calls of one connection or session in flight. Over byte streams, further calls are queued. In a session
        /// over HTTP, they are refused with status 503 and `Retry-After`. Requests of the modern era over HTTP are no part of a
        /// session. Default 256.
        calls_in_flight: usize = 256,
        /// Maximum number of calls of the whole server in flight, over all connections and sessions. Calls that complete
        /// immediately do not count. A quarter of the capacity is reserved for clients without another call in flight.
        ///
        /// Over byte streams, further calls are queued. Over HTTP, calls of the legacy era whose clients have gone away are
        /// aborted first, if they are in sessions of the same `HttpService` or a clone of it; if that frees no capacity, further
        /// calls are refused with status 503 and `Retry-After`.
        /// Default 4,096: with the defaults, each HTTP connection can have a call.
        server_calls_in_flight: usize = 4_096,
        /// Maximum size of the queued messages of one connection in bytes, while `calls_in_flight` is reached. Above it, no
        /// further message of that connection is read; if calls wait for the client to respond, further calls are refused
        /// instead. Default 1 MiB.
        backlog_bytes: usize = 1 << 20,
        /// Maximum number of running functions marked `blocking`, for the whole server. Each has a thread; further calls wait
        /// for a permit. Default 64.
        blocking_calls: usize = 64,
        /// Timeout of a tool call, for tools without a `timeout` of their own. It includes the wait for a permit. After it the
        /// call is cancelled, and its result has `isError`. Default `None`: the tool and the client know how long the work may
        /// take, and a timeout that suits most tools would break one that builds or imports.
        call_timeout: Option<Duration> = None,
        /// Maximum size of the responses of one connection that its peer has not read yet, in bytes. Above it, no further
        /// message of that connection is read, and no finished call is collected. Messages of running calls, such as progress,
        /// take at most half of it. Default 1 MiB.
        queued_output_bytes: usize = 1 << 20,
        /// Maximum number of messages of running calls, such as progress, in the send queue of one connection. While the queue
        /// is full, these calls wait. Default 64.
        queued_messages: usize = 64,
        /// Timeout of a request to the user, such as [`Context::elicit`](crate::Context::elicit). In the legacy era the request
        /// is cancelled; in the modern era the state held by the client expires. The question of a task stays open, and is sent
        /// again. Default 15 min.
        elicitation_timeout: Duration = Duration::from_secs(15 * 60),
        /// Maximum number of pending requests to a client of the legacy era, per connection; further ones are queued. Default
        /// 64.
        pending_client_requests: usize = 64,
        /// Maximum number of rounds in which a call may request input from a client of the modern era. One more fails. Default
        /// 16.
        input_rounds: u32 = 16,
        /// Maximum size of the responses that a client of the modern era carries from one round to the next, in bytes. More is
        /// an error. Default 64 KiB.
        request_state_bytes: usize = 64 << 10,
        /// Maximum size of the client information in `initialize` in bytes, because it is stored as long as the connection or
        /// session: its text, and 256 bytes for each object, list and comma in it. More is answered with -32602. Default
        /// 64 KiB.
        handshake_bytes: usize = 64 << 10,
        /// Maximum size of a `progressToken` in bytes, because each progress notification repeats it. A longer one is answered
        /// with -32602. Default 4 KiB.
        progress_token_bytes: usize = 4 << 10,
        /// Timeout of a graceful shutdown: how long calls may run and responses wait to be read after the end of the input or
        /// [`Server::close`](crate::Server::close). Default 30 s.
        shutdown_timeout: Duration = Duration::from_secs(30),
        /// Number of tools, prompts or resources in one page of a list. Default 1,000: many hosts read only the first page.
        page_size: usize = 1_000,
        /// Maximum size of a raw result of a feature that is made at run time, in bytes (feature
        /// `dynamic`). The caller of a larger one receives an error. Default 4 MiB.
        raw_result_bytes: usize = 4 << 20,
        /// Limits of tools that return a stream.
        streams: StreamLimits = StreamLimits::default(),
        /// Maximum number of sets of visible items whose lists are cached, if [`visible`](crate::ServerBuilder::visible) has
        /// rules. Each takes the memory of its lists in the revisions that are requested. Callers with another set get theirs
        /// made for each request. Default 64.
        cached_views: usize = 64,
        /// Limits of subscriptions.
        subscriptions: SubscriptionLimits = SubscriptionLimits::default(),
        /// Limits of events between replicas.
        events: EventLimits = EventLimits::default(),
        /// Limits of the HTTP transport.
        http: HttpLimits = HttpLimits::default(),
    }
}

limits! {
    /// Limits of the streams that tools return. Part of [`Limits`].
    struct StreamLimits {
        /// Maximum number of items. A longer stream is stopped, and its result has `isError`. Default 100,000.
        items: usize = 100_000,
        /// Maximum size of the collected JSON in bytes, before it is copied into the result. The stream is stopped before the
        /// item that would exceed it, and its result has `isError`. Default 4 MiB.
        bytes: usize = 4 << 20,
    }
}

limits! {
    /// Limits of the subscriptions of one connection. Part of [`Limits`].
    struct SubscriptionLimits {
        /// Maximum number of open `subscriptions/listen` requests; one more is answered with -32600. They do not count as calls
        /// in flight. Default 64.
        open: usize = 64,
        /// Maximum number of subscribed resources, in all subscriptions together. A request for more is answered with -32602.
        /// Default 1,000.
        resources: usize = 1_000,
        /// Maximum size of a subscribed URI and of the id of a subscription, in bytes. A longer one is refused. Updates of
        /// longer URIs are dropped. Default 4 KiB.
        bytes: usize = 4 << 10,
    }
}

limits! {
    /// Limits of events between replicas over an [`EventBus`](crate::EventBus). Part of [`Limits`].
    struct EventLimits {
        /// Maximum number of updated resources in the queue of the bus, each counted once. When there are more, other replicas
        /// are notified instead that anything may have changed. Default 1,024.
        queued: usize = 1_024,
        /// Maximum backoff after failures of the bus. The first backoff is about 100 ms, and none is shorter. Default 30 s.
        max_backoff: Duration = Duration::from_secs(30),
        /// Minimum interval between two notifications to subscribers that anything may have changed. New connections of a bus
        /// and events of other replicas cause them. Those within an interval are merged and sent at its end. Default 1 s.
        refresh_interval: Duration = Duration::from_secs(1),
        /// Timeout for the last events at the end of `HttpServer::serve` and [`Server::serve_stdio`](crate::Server::serve_stdio),
        /// after the last request. Default 5 s.
        flush_timeout: Duration = Duration::from_secs(5),
    }
}

limits! {
    /// Limits of the HTTP transport. Part of [`Limits`].
    struct HttpLimits {
        /// Maximum size of the headers of a request in bytes, names and values together. Larger ones are answered with status
        /// 431. Default 64 KiB.
        header_bytes: usize = 64 << 10,
        /// Timeout for receiving the headers of a request, and again for its body. A slower body is answered with status 408.
        /// Idle connections are closed after the same time, and those of clients that send more than 8 KiB of further requests
        /// while one is pending. Default 30 s.
        read_timeout: Duration = Duration::from_secs(30),
        /// Timeout for a client that reads nothing although there is data for it, or, on Linux, whose network has vanished. Then
        /// its connection is dropped; in your own stack, it loses the stream of a call of a legacy session. Default 30 s.
        write_timeout: Duration = Duration::from_secs(30),
        /// Interval of comments on an idle event stream, so that proxies do not close it. After the same time, the response to a
        /// pending call becomes an event stream. A client of an idle stream whose network has vanished is noticed by its next comment.
        /// Less than 1 s counts as 1 s. Default 15 s.
        keep_alive: Duration = Duration::from_secs(15),
        /// Maximum number of connections served at the same time; more wait to be accepted. Default 1,024.
        connections: usize = 1_024,
        /// Maximum number of connections from one address, or from one /64 network of IPv6. One more is closed with status
        /// 503. Loopback and private networks (such as `10.0.0.0/8` and `fc00::/7`) are exempt, because a reverse proxy there
        /// has the connections of all clients. With a proxy elsewhere, set it to `connections`. Default 256.
        connections_per_address: usize = 256,
        /// Maximum number of connections with a listening stream: a `subscriptions/listen`, the GET stream of a session, or
        /// that of HTTP+SSE. One more is refused with status 503 and `Retry-After`. A quarter of `connections` is reserved
        /// for other requests in any case. Default 768.
        listen_streams: usize = 768,
        /// Maximum number of sessions of clients of the legacy era, including those of HTTP+SSE. For a new one, the session
        /// that was idle the longest is ended, or else one whose client has abandoned its calls; if there is none, the new
        /// one is refused with status 503. Default 4,096.
        sessions: usize = 4_096,
        /// Idle timeout of such a session: without a request, a call or a stream it is ended. (A session of HTTP+SSE ends with
        /// its stream.) Default 30 min.
        session_idle_timeout: Duration = Duration::from_secs(30 * 60),
        /// Maximum age of an open response or stream of such a session. Then the stream is closed, and the client reconnects
        /// after a second for the rest while the call continues. Only clients of revision 2025-11-25 support it. Useful where
        /// proxies or hosts drop long responses. Default `None`;
        /// [`Context::close_sse_stream`](crate::Context::close_sse_stream) does it for single functions.
        stream_max_age: Option<Duration> = None,
        /// Maximum number of events stored per session for clients that resume a stream. Older ones are dropped, first those of
        /// streams that were read to their end, unless a client is about to read them. Beyond that, a stream has at most one unread event. Default 256.
        session_events: usize = 256,
        /// Maximum size of these events in bytes, with the same exceptions. Default 1 MiB.
        session_bytes: usize = 1 << 20,
    }
}

impl From<&Limits> for ParseLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            depth: limits.message_depth,
            id_bytes: limits.request_id_bytes,
            batch_messages: limits.batch_messages,
        }
    }
}
