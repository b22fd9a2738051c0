//! Every bound of a server in one place.

use std::time::Duration;

use crate::wire::ParseLimits;

/// The bounds of a server, each with a default that is safe for a process of its own.
///
/// What a server over HTTP takes at most is what its clients can bring it to, all at once. Of bytes that are `n` times a
/// limit, `n` is how many there may be, and a body or a list that grows may have taken twice its length:
///
/// | what there is | each takes at most | how many |
/// |---|---|---|
/// | connections, reading headers | `http_header_bytes` | `http_connections` |
/// | connections, reading a body | `message_bytes` | `http_connections` |
/// | arguments of a call | what their type takes: 5 times their text as a `Vec<i64>`, up to 100 times as a `Value` | calls that run |
/// | answers and streams | `queued_messages`, each as long as the function makes it and a token | calls that run |
/// | results of streams | twice `stream_bytes` | calls that run |
/// | calls that run | their function, their id, and the text of their `_meta` | `server_calls_in_flight` |
/// | sessions | 5 KiB, `handshake_bytes`, and `http_session_bytes` or one larger event | `http_sessions` |
/// | subscriptions | `subscribed_resources` of `subscription_bytes` | `http_listen_streams` and `http_sessions` |
///
/// An idle session takes some 4 KiB, a connection with a stream on which nothing comes some 20 KiB. Sessions have the largest product: who fears their worst
/// case lowers `http_sessions` or `http_session_bytes`. Each connection needs a file descriptor; where there are fewer of
/// them than `http_connections`, further clients wait too.
///
/// ```
/// use treenail_runtime::Limits;
///
/// let limits = Limits { message_bytes: 1 << 20, ..Limits::default() };
/// assert_eq!(limits.calls_in_flight, 256);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one incoming message, without its line end; a longer one is answered with -32700. Default 4 MiB.
    pub message_bytes: usize,
    /// How deeply an incoming message may be nested, at most 128; a deeper one is answered with -32700. Default 64.
    pub message_depth: u32,
    /// Bytes of the id of a request, as it is written; a longer one is answered with -32600, without it. A call holds its id
    /// once, and each of its answers repeats it. Default 4 KiB.
    pub request_id_bytes: usize,
    /// Messages in one batch (revision 2025-03-26); a longer batch is answered with -32600. Default 128.
    pub batch_messages: usize,
    /// Calls of one connection that run at once; further ones wait. Default 256.
    pub calls_in_flight: usize,
    /// Calls of the whole server that run at once, over all connections and sessions; those that are ready at once do not
    /// count. A quarter of the places is for clients that have no other call in flight.
    ///
    /// Over byte streams, further calls wait. Over HTTP, calls of the legacy era are ended with an error if their clients
    /// have left them alone; if that makes no room, further calls are refused with the status 503 and `Retry-After`.
    /// Default 4,096: with the defaults, all connections of HTTP can have a call.
    pub server_calls_in_flight: usize,
    /// Bytes of messages of one connection that wait because as many calls are in flight as may be. While there are more, no
    /// further message of that connection is read; if calls wait for answers of the client, further calls are refused
    /// instead. Default 1 MiB.
    pub held_bytes: usize,
    /// Functions marked `blocking` that run at once, for the whole server; each has a thread. Further calls wait for
    /// their turn. Default 64.
    pub blocking_calls: usize,
    /// How long a call of a tool may take that has no `timeout` of its own, its waiting for a turn included; then it is
    /// given up, and its result has `isError`. Default `None`, no limit: how long work may take is known to the tool and
    /// to the client, which can cancel its call, and a limit that is good for most tools would break one that builds or
    /// imports.
    pub call_timeout: Option<Duration>,
    /// Bytes of answers of one connection that its peer has not taken yet. While there are more, no further message of
    /// that connection is read and no finished call is collected. Default 1 MiB.
    pub queued_output_bytes: usize,
    /// Messages of calls in flight, such as progress, that wait to be taken over by the transport of one connection;
    /// while there are so many, those calls wait. Default 64.
    pub queued_messages: usize,
    /// How long a client may take to answer a question, such as [`Context::elicit`](crate::Context::elicit): in the legacy
    /// era until it is taken back, in the modern one until the state that the client carries expires. Default 15 min.
    pub answer_within: Duration,
    /// Questions of one connection that a client of the legacy era has not answered yet; further ones wait. Default 64.
    pub open_questions: usize,
    /// Rounds in which a function may ask a client of the modern era; asking once more fails. Default 16.
    pub question_rounds: u32,
    /// Bytes of answers that a client of the modern era carries from one round to the next; more is a failure. Default
    /// 64 KiB.
    pub request_state_bytes: usize,
    /// Items of one stream that a tool returns. A stream with more is stopped there, and its result says so with
    /// `isError`. Default 100,000.
    pub stream_items: usize,
    /// Bytes of JSON that are kept of one stream that a tool returns, before they are copied into the result. A stream with
    /// more is stopped before the item that would exceed it, and its result says so with `isError`. Default 4 MiB.
    pub stream_bytes: usize,
    /// Requests `subscriptions/listen` of one connection that are open at once; one more is answered with -32600. They do
    /// not count as calls in flight. Default 64.
    pub subscriptions: usize,
    /// Resources that one connection has subscribed to, in all its subscriptions together; a request for more is answered
    /// with -32602. Default 1,000.
    pub subscribed_resources: usize,
    /// Bytes of one URI that is subscribed to, and of the id of a subscription; a longer one is refused. Updates of longer
    /// URIs are told nobody. Default 4 KiB.
    pub subscription_bytes: usize,
    /// Bytes that what a client says of itself in `initialize` may take, since it is kept as long as the connection or the
    /// session: its text, and 256 for each object, list and comma in it. More is answered with -32602. Default 64 KiB.
    pub handshake_bytes: usize,
    /// Bytes of a `progressToken`, which is repeated in all that a call tells of itself; a longer one is answered with
    /// -32602. Default 4 KiB.
    pub progress_token_bytes: usize,
    /// Updated resources that wait because the [`EventBus`](crate::EventBus) has not published them yet, each counted once;
    /// when there are more, other replicas are told instead that anything may have changed. Default 1,024.
    pub bus_events: usize,
    /// How long a bus that keeps failing is left alone at most before it is tried again; the first pause is about 100 ms, and
    /// none is shorter. Default 30 s.
    pub bus_retry_within: Duration,
    /// Least time between two reports to subscribers that anything may have changed, which new connections of a bus and
    /// events of other replicas cause. What comes in between is reported once, at the end of the interval. Default 1 s.
    pub bus_refresh_interval: Duration,
    /// How long `HttpServer::serve` waits at its end, after its last request, until the bus has published what is left. Default
    /// 5 s.
    pub finish_bus_within: Duration,
    /// How long calls may go on, and answers wait to be taken, after the end of the input or after
    /// [`Server::close`](crate::Server::close). Default 30 s.
    pub finish_calls_within: Duration,
    /// Bytes of the headers of one request of HTTP, names and values together; more is answered with the status 431. Default
    /// 64 KiB.
    pub http_header_bytes: usize,
    /// How long a client of HTTP may take to send the headers of a request, and as long again for its body; a body that
    /// takes longer is answered with the status 408. An idle connection is closed after as long. Default 30 s.
    pub http_read_within: Duration,
    /// How long a client of HTTP may read nothing although there is something for it, before its connection is dropped; in a
    /// stack of your own, before a stream of the legacy era is taken from it. Default 30 s.
    pub http_write_within: Duration,
    /// Connections of HTTP that are served at once; more wait to be accepted. Default 1,024.
    pub http_connections: usize,
    /// Connections of HTTP from one address, of IPv6 from one network of 64 bits; one more is closed with the status 503.
    /// Addresses of this computer and of private networks (such as `10.0.0.0/8` and `fc00::/7`) have no such bound, for there a
    /// reverse proxy may be, which has the connections of all clients. For a proxy elsewhere, it has to be as large as
    /// `http_connections`. Default 256.
    pub http_connections_per_address: usize,
    /// Connections of HTTP with a stream on which the server only tells of changes: a `subscriptions/listen`, the stream of a
    /// session that belongs to no request, and that of HTTP+SSE. One more is refused with the status 503 and `Retry-After`.
    /// In any case a quarter of `http_connections` is left to other requests. Default 768.
    pub http_listen_streams: usize,
    /// Sessions of clients of the legacy era over HTTP, those of HTTP+SSE included. When there are so many, those that have
    /// been idle the longest are ended for a new one, or else those whose clients have left their calls alone; if there are none, it is refused with
    /// the status 503. Default 4,096.
    pub http_sessions: usize,
    /// How long such a session may be idle before it ends: no request, no call and no stream. (One of HTTP+SSE ends with its
    /// stream.) Default 30 min.
    pub http_session_idle: Duration,
    /// How long a request of such a session may wait, or its stream stay open, before its client is asked to come back for
    /// the rest while the call goes on; only clients of revision 2025-11-25 can do that, and are told to do so after a
    /// second. Right where proxies or hosts give up what is open for longer. Default `None`, as long as it takes:
    /// [`Context::let_client_poll`](crate::Context::let_client_poll) is for single functions.
    pub http_poll_after: Option<Duration>,
    /// Events of one such session that are kept for clients that resume a stream; older ones are dropped, unless someone is
    /// about to read them. Beyond that, a stream has one event at most that waits to be read. Default 256.
    pub http_session_events: usize,
    /// Bytes of those events, in the same way. Default 1 MiB.
    pub http_session_bytes: usize,
    /// Tools, prompts or resources in one page of a list. Default 1,000: many hosts read only the first page.
    pub page_size: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 4 << 20,
            message_depth: 64,
            request_id_bytes: 4 << 10,
            batch_messages: 128,
            calls_in_flight: 256,
            server_calls_in_flight: 4_096,
            held_bytes: 1 << 20,
            blocking_calls: 64,
            call_timeout: None,
            queued_output_bytes: 1 << 20,
            queued_messages: 64,
            answer_within: Duration::from_secs(15 * 60),
            open_questions: 64,
            question_rounds: 16,
            request_state_bytes: 64 << 10,
            stream_items: 100_000,
            stream_bytes: 4 << 20,
            subscriptions: 64,
            subscribed_resources: 1_000,
            subscription_bytes: 4 << 10,
            handshake_bytes: 64 << 10,
            progress_token_bytes: 4 << 10,
            bus_events: 1_024,
            bus_retry_within: Duration::from_secs(30),
            bus_refresh_interval: Duration::from_secs(1),
            finish_bus_within: Duration::from_secs(5),
            finish_calls_within: Duration::from_secs(30),
            http_header_bytes: 64 << 10,
            http_read_within: Duration::from_secs(30),
            http_write_within: Duration::from_secs(30),
            http_connections: 1_024,
            http_connections_per_address: 256,
            http_listen_streams: 768,
            http_sessions: 4_096,
            http_session_idle: Duration::from_secs(30 * 60),
            http_poll_after: None,
            http_session_events: 256,
            http_session_bytes: 1 << 20,
            page_size: 1_000,
        }
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
