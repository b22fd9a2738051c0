//! Credentials of an HTTP session, which may change while it runs.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use http::{HeaderMap, Method, StatusCode, Uri};

use crate::client::ClientError;

/// A future of an [`HttpAuthorization`].
pub type AuthorizationFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send + 'a>>;

/// Credentials for the HTTP requests of a session, such as tokens that expire.
///
/// The session calls [`authorize`](Self::authorize) before each attempt to send a request (POST, GET or DELETE), and
/// [`refused`](Self::refused) if the server answers with status 401 or 403. It sends to the origin of its URL only.
pub trait HttpAuthorization: fmt::Debug + Send + Sync + 'static {
    /// Adds credentials to the headers of a request.
    ///
    /// # Errors
    ///
    /// The error of the request, which is then not sent.
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        headers: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()>;

    /// Looks at each response, whatever its status. A status other than 401 and 403 means that the server accepted the
    /// credentials. Default: does nothing.
    fn observe(&self, request: &HttpAttempt<'_>, status: StatusCode, response: &HeaderMap) {
        let _ = (request, status, response);
    }

    /// Obtains other credentials after a response with status 401 or 403. The session sends the same request again for
    /// [`Refusal::Retry`], at most 8 times.
    ///
    /// The timeout of the request does not run meanwhile, since a user may be asked. The implementation bounds the time.
    ///
    /// # Errors
    ///
    /// The error of the request, in place of its status.
    fn refused<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        status: StatusCode,
        response: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal>;
}

/// Reaction to a refused request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The credentials have changed: the request is sent again.
    Retry,
    /// The response is the result of the request.
    Final,
}

/// One request of a session, in all its attempts.
#[non_exhaustive]
pub struct HttpAttempt<'a> {
    /// The HTTP method.
    pub http_method: &'a Method,
    /// The URL of the session, which identifies the server.
    pub server: &'a Uri,
    /// The URL of the request. It has the origin of the session, but may have another path.
    pub url: &'a Uri,
    /// The method of the message and the name of the tool, prompt or resource; `None` for requests without a message.
    pub operation: Option<(&'a str, Option<&'a str>)>,
    /// The number of attempts before this one.
    pub previous: u32,
    /// Value that the implementation carries from one attempt to the next, for example counters.
    pub state: Option<Box<dyn Any + Send>>,
}

impl fmt::Debug for HttpAttempt<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A query may contain a secret.
        formatter
            .debug_struct("HttpAttempt")
            .field("http_method", self.http_method)
            .field("operation", &self.operation)
            .field("previous", &self.previous)
            .finish_non_exhaustive()
    }
}
