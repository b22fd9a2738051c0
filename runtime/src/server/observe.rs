//! Observers of the requests to a server, for telemetry.
//!
//! An observer sees every request of a known or unknown method, also those that do not pass through layers. It sees neither
//! arguments nor results. A server without an observer tests one pointer for it.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use treenail_schema::{Method, Revision};

use crate::extensions::Extensions;
use crate::wire::{Members, RpcError, as_string};

/// Observer of the requests to a server, added by [`ServerBuilder::observe`](crate::ServerBuilder::observe). The crate
/// `treenail-otel` has one for OpenTelemetry.
///
/// Its methods run in the task that reads messages, so they must not block.
///
/// ```
/// use treenail::context::Extensions;
/// use treenail::observe::{Observation, ObservedRequest, Outcome, ServerObserver};
///
/// #[derive(Debug)]
/// struct Log;
///
/// impl ServerObserver for Log {
///     fn request(&self, request: &ObservedRequest<'_>, _: &mut Extensions) -> Option<Box<dyn Observation>> {
///         eprintln!("{:?} has started", request.method);
///         Some(Box::new(Log))
///     }
/// }
///
/// impl Observation for Log {
///     fn in_scope(&self, run: &mut dyn FnMut()) {
///         run();
///     }
///
///     fn end(self: Box<Self>, outcome: &Outcome) {
///         eprintln!("the request has ended: {outcome:?}");
///     }
/// }
///
/// let server = treenail::server!().observe(Log).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
pub trait ServerObserver: fmt::Debug + Send + Sync + 'static {
    /// Returns `false` while the observer records nothing. No other method is then called. It is called for each request.
    fn is_enabled(&self) -> bool {
        true
    }

    /// Observes the start of a request. `extensions` are those that its function gets. `None` ignores the request.
    fn request(
        &self,
        request: &ObservedRequest<'_>,
        extensions: &mut Extensions,
    ) -> Option<Box<dyn Observation>>;

    /// Observes the start of a session of the legacy era, after its handshake. The value is dropped when the session ends.
    fn session(&self, session: &ObservedSession) -> Option<Box<dyn Any + Send + Sync>> {
        let _ = session;
        None
    }
}

impl<T: ServerObserver + ?Sized> ServerObserver for Arc<T> {
    fn is_enabled(&self) -> bool {
        (**self).is_enabled()
    }

    fn request(
        &self,
        request: &ObservedRequest<'_>,
        extensions: &mut Extensions,
    ) -> Option<Box<dyn Observation>> {
        (**self).request(request, extensions)
    }

    fn session(&self, session: &ObservedSession) -> Option<Box<dyn Any + Send + Sync>> {
        (**self).session(session)
    }
}

/// Observation of one request. Dropping it without [`Observation::end`] means that the request was cancelled.
///
/// That of `subscriptions/listen` lasts as long as the subscription.
pub trait Observation: Send + Sync {
    /// Calls `run` once, which runs a part of the request in the current thread.
    fn in_scope(&self, run: &mut dyn FnMut());

    /// Observes the end of the request.
    fn end(self: Box<Self>, outcome: &Outcome);
}

/// Request, as a [`ServerObserver`] sees it.
#[derive(Debug)]
#[non_exhaustive]
pub struct ObservedRequest<'a> {
    /// The method, unless it is unknown or one of an extension.
    pub method: Option<Method>,
    /// The method, if it is one of an extension that the server supports.
    pub extension_method: Option<&'a str>,
    /// The JSON text of the id.
    pub id: &'a str,
    /// The protocol revision of the client, if it is known.
    pub revision: Option<Revision>,
    /// The name of the tool or prompt, or the URI of the resource that is read or subscribed to, as the client wrote it.
    pub target: Option<Cow<'a, str>>,
    /// Set if there is a tool or prompt with the name `target`. Clients choose other names freely.
    pub is_known: bool,
    /// The transport.
    pub transport: ObservedTransport,
    /// The id of the session over HTTP, in the legacy era.
    pub session_id: Option<&'a str>,
    pub(crate) meta: Option<&'a str>,
}

impl ObservedRequest<'_> {
    /// Returns a string of the `_meta` of the request, such as its `traceparent`.
    pub fn meta(&self, key: &str) -> Option<String> {
        let mut members = Members::new(self.meta?).ok()?;
        while let Some((name, text)) = members.next().ok()? {
            if name == key {
                return as_string(text).map(Cow::into_owned);
            }
        }
        None
    }
}

/// Session, as a [`ServerObserver`] sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObservedSession {
    /// The revision that the handshake has negotiated.
    pub revision: Revision,
    /// The transport.
    pub transport: ObservedTransport,
}

/// Transport of an observed request or session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObservedTransport {
    /// The standard streams of the process.
    Stdio,
    /// HTTP, with its version as in `1.1`.
    Http(&'static str),
    /// Another one, such as a stream of the program.
    Other,
}

/// Outcome of an observed request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// A result, or a request for input.
    Success,
    /// The result of a tool with `isError`.
    ToolError,
    /// A JSON-RPC error.
    #[non_exhaustive]
    Error {
        /// The code.
        code: i64,
        /// The message.
        message: String,
    },
}

impl Outcome {
    /// Creates [`Outcome::Error`].
    pub fn error(code: i64, message: impl Into<String>) -> Self {
        Self::Error {
            code,
            message: message.into(),
        }
    }

    /// Reads the outcome from a response.
    pub(crate) fn of_response(response: &[u8]) -> Self {
        let text = std::str::from_utf8(response).unwrap_or_default();
        if let Some(error) = member(text, "error") {
            return match serde_json::from_str::<RpcError>(error) {
                Ok(RpcError { code, message, .. }) => Self::error(code, message),
                Err(_) => Self::Success,
            };
        }
        member(text, "result").map_or(Self::Success, Self::of_result)
    }

    /// Reads the outcome from the result of a request that was answered without a JSON-RPC error.
    pub fn of_result(result: &str) -> Self {
        match member(result, "isError") {
            Some("true") => Self::ToolError,
            _ => Self::Success,
        }
    }
}

/// Returns the text of a member of an object.
fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut members = Members::new(text).ok()?;
    while let Some((key, value)) = members.next().ok()? {
        if key == name {
            return Some(value);
        }
    }
    None
}

/// Observation of a session, until it is dropped.
#[derive(Default)]
pub(crate) struct SessionObservation(
    #[allow(dead_code, reason = "it is dropped")] Option<Box<dyn Any + Send + Sync>>,
);

impl SessionObservation {
    pub(crate) fn start(observer: &dyn ServerObserver, session: &ObservedSession) -> Self {
        Self(observer.session(session))
    }
}

impl fmt::Debug for SessionObservation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SessionObservation").finish()
    }
}
