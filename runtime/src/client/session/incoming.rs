//! What a server sends of its own accord.

use std::fmt;

use crate::wire::RpcError;

/// Hears what a server sends of its own accord.
///
/// It is called from the task that reads, so it must not wait.
pub trait IncomingHandler: Send + Sync {
    /// A notification has come; `params` is the text of an object.
    fn notification(&self, method: &str, params: &str);

    /// A request has come, which only servers of the legacy era send.
    fn request(&self, request: IncomingRequest<'_>);

    /// The connection has ended, and nothing will come any more.
    fn closed(&self);
}

/// A request of a server.
#[derive(Debug)]
#[non_exhaustive]
pub struct IncomingRequest<'a> {
    /// The text of its id, by which the server can cancel it.
    pub id: &'a str,
    /// The method, as in `elicitation/create`.
    pub method: &'a str,
    /// The parameters: the text of an object.
    pub params: &'a str,
    /// Where the answer goes.
    pub responder: Responder,
}

impl<'a> IncomingRequest<'a> {
    /// A request of a server.
    pub fn new(id: &'a str, method: &'a str, params: &'a str, responder: Responder) -> Self {
        Self {
            id,
            method,
            params,
            responder,
        }
    }
}

type Respond = dyn FnOnce(Result<String, RpcError>) + Send;

/// Takes the answer to a request of a server. One that is dropped answers that the request failed.
pub struct Responder(Option<Box<Respond>>);

impl Responder {
    /// Passes the answer to `respond`, which must not wait: the text of a result, or an error.
    pub fn new(respond: impl FnOnce(Result<String, RpcError>) + Send + 'static) -> Self {
        Self(Some(Box::new(respond)))
    }

    /// Answers with the text of a result, or with an error.
    pub fn respond(mut self, answer: Result<String, RpcError>) {
        self.send(answer);
    }

    /// Gives no answer, since the server has cancelled its request.
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
