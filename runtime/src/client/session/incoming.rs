//! Notifications and requests from a server.

use std::fmt;

use crate::wire::RpcError;

/// Handler for notifications and requests from a server.
///
/// The task that reads messages calls it, so it must not block.
pub trait IncomingHandler: Send + Sync {
    /// Handles a notification; `params` is the JSON text of an object.
    fn notification(&self, method: &str, params: &str);

    /// Handles a notification that arrived on the response stream of the request with the id `request`. Only HTTP has such
    /// streams. Default: [`notification`](Self::notification).
    fn related_notification(&self, method: &str, params: &str, request: i64) {
        let _ = request;
        self.notification(method, params);
    }

    /// Handles an interruption: notifications may have been lost, so cached lists and resources may be out of date. Default:
    /// nothing.
    fn missed_notifications(&self) {}

    /// Handles a request, which only legacy servers send.
    fn request(&self, request: IncomingRequest<'_>);

    /// Returns true if the server may send requests. The session then answers malformed ones with an error. Default: true.
    fn accepts_requests(&self) -> bool {
        true
    }

    /// Handles the end of the connection. No other method is called after it.
    fn closed(&self);
}

/// A request from a server.
#[derive(Debug)]
#[non_exhaustive]
pub struct IncomingRequest<'a> {
    /// The JSON text of its id, which the server uses to cancel it.
    pub id: &'a str,
    /// The method, as in `elicitation/create`.
    pub method: &'a str,
    /// The parameters: JSON text of an object.
    pub params: &'a str,
    /// The id of the client's request on whose response stream it arrived, over HTTP: the server sent it because of that
    /// request. `None` on streams for all messages.
    pub related_request: Option<i64>,
    /// Receiver of the answer.
    pub responder: Responder,
}

impl<'a> IncomingRequest<'a> {
    /// Creates a request.
    pub fn new(id: &'a str, method: &'a str, params: &'a str, responder: Responder) -> Self {
        Self {
            id,
            method,
            params,
            related_request: None,
            responder,
        }
    }

    /// Sets the request on whose response stream it arrived.
    #[must_use]
    pub fn related_request(mut self, request: Option<i64>) -> Self {
        self.related_request = request;
        self
    }
}

type Respond = dyn FnOnce(Result<String, RpcError>) + Send;

/// Sends the answer to a request from a server. Dropping it answers with an error.
pub struct Responder(Option<Box<Respond>>);

impl Responder {
    /// Passes the answer, the JSON text of a result or an error, to `respond`, which must not block.
    pub fn new(respond: impl FnOnce(Result<String, RpcError>) + Send + 'static) -> Self {
        Self(Some(Box::new(respond)))
    }

    /// Answers with the JSON text of a result, or with an error.
    pub fn respond(mut self, answer: Result<String, RpcError>) {
        self.send(answer);
    }

    /// Sends no answer, because the server has cancelled its request.
    pub fn discard(mut self) {
        self.0 = None;
    }

    fn send(&mut self, answer: Result<String, RpcError>) {
        if let Some(respond) = self.0.take() {
            respond(answer);
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.send(Err(RpcError::internal("the request was not answered")));
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Responder").finish()
    }
}
