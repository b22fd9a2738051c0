//! Connection to a server, independent of the transport.

mod incoming;
mod late;
mod wrapper;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use treenail_schema::{
    GetTaskPayloadRequest, JsonObject, Request, Revision, SubscriptionsListenRequest,
};

pub use self::incoming::{IncomingHandler, IncomingRequest, Responder};
pub(in crate::client) use self::late::LateAnswers;
pub use self::wrapper::SessionWrapper;
use crate::client::ClientError;

/// A future of a [`Session`].
pub type SessionFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send + 'a>>;

/// A connection to one server. It sends messages, matches answers to requests, and passes notifications and requests of the
/// server to an [`IncomingHandler`]. [`McpClientSession`](crate::client::McpClientSession) interprets the messages.
///
/// Parameters and results are JSON text of objects.
///
/// A transport of single messages needs no session of its own: the guide's page on deployment has a bridge from such a transport to a
/// [`LineSession`](crate::client::LineSession).
///
/// # Cancellation
///
/// Dropping the future of a request cancels the request in the way of the transport, unless
/// [`SessionRequest::cancellable`] is `false`. A later answer is dropped.
pub trait Session: fmt::Debug + Send + Sync {
    /// Sets the handler for notifications and requests of the server. Called once, before the first request.
    fn listen(&self, incoming: Arc<dyn IncomingHandler>);

    /// Sends a request and returns the JSON text of its result.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the error of the server, or another error if the connection is closed before the
    /// answer arrives.
    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String>;

    /// Sends a notification. Ready when it has been handed to the transport.
    ///
    /// # Errors
    ///
    /// If the connection is closed.
    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()>;

    /// Returns the kind of transport.
    fn transport(&self) -> TransportKind;

    /// Returns the first line of the server that was not a message, quoted. It may explain a failed connection: some servers
    /// print to standard output by mistake. Transports without lines return `None`.
    fn stray_line(&self) -> Option<String> {
        None
    }

    /// Returns a number that changes with the credentials of the connection. Cached results of the former ones are not used any
    /// more. Default: 0.
    fn credentials_version(&self) -> u64 {
        0
    }

    /// Returns the extensions of the protocol that the connection uses, such as those of its credentials, with their settings.
    /// The client declares them in its capabilities. Default: none.
    fn extensions(&self) -> BTreeMap<String, JsonObject> {
        BTreeMap::new()
    }

    /// Closes the connection gracefully. Pending requests fail with [`ClientError::Closed`], and so do later ones. Ready when the
    /// connection has ended; dropping the session ends it in the background.
    fn close(&self) -> SessionFuture<'_, ()>;
}

/// Kind of transport of a [`Session`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportKind {
    /// One stream in each direction for all messages: a socket, memory.
    Stream,
    /// The standard streams of a child process, one in each direction for all messages.
    Stdio,
    /// Streamable HTTP, with a separate HTTP request for each message.
    Http,
}

/// A request to send over a [`Session`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionRequest {
    /// The id, unique within the connection.
    pub id: i64,
    /// The method, as in `tools/call`.
    pub method: Cow<'static, str>,
    /// The parameters: JSON text of an object, including `_meta`.
    pub params: String,
    /// The protocol revision of the request; `None` for `initialize`.
    pub revision: Option<Revision>,
    /// Arguments to repeat in headers, for tools that require it: names without the prefix `Mcp-Param-`, and unencoded
    /// values. Transports without headers ignore them.
    pub headers: Vec<(String, String)>,
    /// The unencoded value of the header `Mcp-Name`; `None` for that of the method. Transports without headers ignore it.
    pub name_header: Option<String>,
    /// True if dropping the future cancels the request. False for handshake requests.
    pub cancellable: bool,
    /// Receiver of a result that arrives although the request was cancelled.
    pub(in crate::client) late: Option<Weak<dyn LateAnswers>>,
}

impl SessionRequest {
    /// Creates a cancellable request without headers.
    pub fn new(id: i64, method: impl Into<Cow<'static, str>>, params: String) -> Self {
        Self {
            id,
            method: method.into(),
            params,
            revision: None,
            headers: Vec::new(),
            name_header: None,
            cancellable: true,
            late: None,
        }
    }

    /// Returns true if the request takes one of the places of [`ClientLimits::requests_in_flight`](super::ClientLimits). A
    /// subscription would hold its place for as long as it is open, and `tasks/result` until its task ends.
    #[doc(hidden)]
    pub fn counts_as_in_flight(&self) -> bool {
        self.method != SubscriptionsListenRequest::METHOD
            && self.method != GetTaskPayloadRequest::METHOD
    }
}

/// A notification to send over a [`Session`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionNotification {
    /// The method, as in `notifications/initialized`.
    pub method: Cow<'static, str>,
    /// The parameters: JSON text of an object.
    pub params: String,
    /// The protocol revision of the notification.
    pub revision: Option<Revision>,
}

impl SessionNotification {
    /// Creates a notification.
    pub fn new(method: impl Into<Cow<'static, str>>, params: String) -> Self {
        Self {
            method: method.into(),
            params,
            revision: None,
        }
    }
}
