//! What a client needs of a connection to a server, whatever carries it.

mod incoming;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use treenail_schema::Revision;

pub use self::incoming::{IncomingHandler, IncomingRequest, Responder};
use crate::client::ClientError;

/// A future of a [`Session`].
pub type SessionFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send + 'a>>;

/// A connection to one server: it sends messages there, finds the answer that belongs to a request, and passes on what
/// the server sends of its own accord. What the messages mean is the business of
/// [`McpClientSession`](crate::client::McpClientSession).
///
/// Texts are JSON: the parameters of a request and the result of its answer are texts of objects.
///
/// # Cancellation
///
/// Dropping the future of a request cancels the request in the way of the transport, unless
/// [`SessionRequest::cancellable`] is `false`; an answer that comes later is dropped.
pub trait Session: fmt::Debug + Send + Sync {
    /// Says who hears what the server sends of its own accord. It is called once, before the first request.
    fn listen(&self, incoming: Arc<dyn IncomingHandler>);

    /// Sends a request and waits for its answer: the text of its result, or [`ClientError::Refused`] with the error.
    ///
    /// # Errors
    ///
    /// Also when the connection is closed, or is closed before the answer has come.
    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String>;

    /// Sends a notification; ready when it is on its way.
    ///
    /// # Errors
    ///
    /// When the connection is closed.
    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()>;

    /// What carries the messages.
    fn transport(&self) -> TransportKind;

    /// First line of the server that was no message, quoted, if there was one. It explains why connecting failed: servers
    /// print to standard output by mistake. Transports without lines have none.
    fn stray_line(&self) -> Option<String> {
        None
    }

    /// Ends the connection in an orderly way; ready when it has ended. Requests that wait fail with
    /// [`ClientError::Closed`]. A connection that is dropped instead ends too, but nobody learns when.
    fn close(&self) -> SessionFuture<'_, ()>;
}

/// What carries the messages of a [`Session`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportKind {
    /// One stream each way, for all messages: a child process, a socket, memory.
    Stream,
    /// Streamable HTTP, where each message is a request of its own.
    Http,
}

/// A request on its way to a [`Session`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionRequest {
    /// The id, unlike that of any other request of this connection.
    pub id: i64,
    /// The method, as in `tools/call`.
    pub method: Cow<'static, str>,
    /// The parameters: the text of an object, with its `_meta`.
    pub params: String,
    /// The revision that the request is written in; `None` for `initialize`.
    pub revision: Option<Revision>,
    /// Arguments that the tool wants to have in headers too: the names behind `Mcp-Param-` and the values as they are.
    /// Transports without headers do without them.
    pub headers: Vec<(String, String)>,
    /// Whether dropping the future cancels the request. It does not for what begins a connection.
    pub cancellable: bool,
}

impl SessionRequest {
    /// A request without headers that may be cancelled.
    pub fn new(id: i64, method: impl Into<Cow<'static, str>>, params: String) -> Self {
        Self {
            id,
            method: method.into(),
            params,
            revision: None,
            headers: Vec::new(),
            cancellable: true,
        }
    }
}

/// A notification on its way to a [`Session`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionNotification {
    /// The method, as in `notifications/initialized`.
    pub method: Cow<'static, str>,
    /// The parameters: the text of an object.
    pub params: String,
    /// The revision that the notification is written in.
    pub revision: Option<Revision>,
}

impl SessionNotification {
    /// A notification.
    pub fn new(method: impl Into<Cow<'static, str>>, params: String) -> Self {
        Self {
            method: method.into(),
            params,
            revision: None,
        }
    }
}
