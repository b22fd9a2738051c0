//! Credentials of an HTTP session, which may change while it runs.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode, Uri};
use treenail_schema::{JsonObject, Revision};

use crate::client::ClientError;

/// A future of an [`HttpAuthorization`].
#[cfg(feature = "http-client")]
pub type AuthorizationFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send + 'a>>;

/// Credentials for the HTTP requests of a session, such as tokens that expire.
///
/// The session calls [`authorize`](Self::authorize) before each attempt to send a request. That concerns all requests:
/// messages (POST), streams and their resumption (GET), and the end of a session (DELETE). It calls
/// [`refused`](Self::refused) if the server answers with status 401 or 403.
///
/// - Requests are sent to the origin of the session's URL only. Of the redirects within this origin, those to the same path or
///   below it are followed.
/// - The timeout of a request does not run during these calls, since a user may be asked. The implementation bounds their time.
/// - Dropping the future of a request drops these calls.
/// - The limit [`ClientLimits::shutdown_timeout`] bounds a DELETE, including the time for its credentials.
///
/// ```
/// use http::{HeaderMap, HeaderValue, StatusCode, header};
/// use treenail::client::{
///     AuthorizationFuture, ClientError, HttpAttempt, HttpAuthorization, HttpClientBuilderExt,
///     McpClient, Refusal,
/// };
///
/// /// A token that another program renews in a file.
/// #[derive(Debug)]
/// struct TokenFile(&'static str);
///
/// impl HttpAuthorization for TokenFile {
///     fn authorize<'a>(
///         &'a self,
///         _: &'a mut HttpAttempt<'_>,
///         headers: &'a mut HeaderMap,
///     ) -> AuthorizationFuture<'a, ()> {
///         Box::pin(async move {
///             let token = std::fs::read_to_string(self.0);
///             let token = token.map_err(ClientError::authorization)?;
///             let value = HeaderValue::try_from(format!("Bearer {}", token.trim()));
///             headers.insert(header::AUTHORIZATION, value.map_err(ClientError::authorization)?);
///             Ok(())
///         })
///     }
///
///     fn refused<'a>(
///         &'a self,
///         request: &'a mut HttpAttempt<'_>,
///         status: StatusCode,
///         _: &'a HeaderMap,
///     ) -> AuthorizationFuture<'a, Refusal> {
///         // The token may have been renewed since it was read.
///         let again = status == StatusCode::UNAUTHORIZED && request.previous == 0;
///         Box::pin(async move { Ok(if again { Refusal::Retry } else { Refusal::Final }) })
///     }
/// }
///
/// let client = McpClient::builder().url("https://example.com/mcp").authorization(TokenFile("token.txt"));
/// ```
///
/// [`ClientLimits::shutdown_timeout`]: crate::client::ClientLimits::shutdown_timeout
#[cfg(feature = "http-client")]
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
    /// [`Refusal::Retry`], at most 8 times: with the same id and the same body, at the URL of the session. No user must be asked
    /// if [`HttpAttempt::may_ask_user`] is false.
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

    /// Returns a number that changes with the credentials. Cached results of the former ones are not used any more, since results
    /// may depend on the user. Default: 0.
    fn version(&self) -> u64 {
        0
    }

    /// Returns the extensions of the protocol that these credentials use, with their settings. The client declares them in its
    /// capabilities. Default: none.
    fn extensions(&self) -> BTreeMap<String, JsonObject> {
        BTreeMap::new()
    }
}

impl<T: HttpAuthorization + ?Sized> HttpAuthorization for Arc<T> {
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        headers: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        (**self).authorize(request, headers)
    }

    fn observe(&self, request: &HttpAttempt<'_>, status: StatusCode, response: &HeaderMap) {
        (**self).observe(request, status, response);
    }

    fn refused<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        status: StatusCode,
        response: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal> {
        (**self).refused(request, status, response)
    }

    fn version(&self) -> u64 {
        (**self).version()
    }

    fn extensions(&self) -> BTreeMap<String, JsonObject> {
        (**self).extensions()
    }
}

/// Reaction to a refused request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg(feature = "http-client")]
pub enum Refusal {
    /// The credentials have changed: the request is sent again.
    Retry,
    /// The response is the result of the request.
    Final,
}

/// One request of a session, in all its attempts.
#[non_exhaustive]
#[cfg(feature = "http-client")]
pub struct HttpAttempt<'a> {
    /// The HTTP method.
    pub http_method: &'a Method,
    /// The URL of the session, which identifies the server.
    pub server: &'a Uri,
    /// The URL of the request. It has the origin of the session, but may have another path: after a redirect, and for messages
    /// of HTTP+SSE (2024-11-05).
    pub url: &'a Uri,
    /// The address of the server, once it has answered; `None` behind a proxy.
    pub peer: Option<IpAddr>,
    /// The protocol revision of the request. For `initialize` it is the proposed one.
    pub revision: Option<Revision>,
    /// The revision that was set with [`McpClientBuilder::protocol_version`](super::McpClientBuilder::protocol_version), if any.
    pub only_revision: Option<Revision>,
    /// The method of the message and the name of the tool, prompt, resource or task. `None` for requests without a message,
    /// and for answers to the server.
    pub operation: Option<(&'a str, Option<&'a str>)>,
    /// False for requests that are not worth asking a user: the cancellation of a request, the end of a session, and requests that
    /// the client sends on its own. These open a stream or a subscription again after it was open, subscribe to list changes,
    /// fetch changed lists, and answer the server, except its elicitation and sampling. The first attempt to resume the stream of a call may ask, later ones do not. Such requests may be sent
    /// again with credentials that need no user, for example after a refresh, with a nonce of the server, or by a grant of the
    /// program itself.
    pub may_ask_user: bool,
    /// The number of attempts before this one.
    pub previous: u32,
    /// Value that the implementation carries from one attempt to the next, for example counters.
    pub state: Option<Box<dyn Any + Send>>,
}

impl<'a> HttpAttempt<'a> {
    #[doc(hidden)]
    pub fn new(http_method: &'a Method, server: &'a Uri, url: &'a Uri) -> Self {
        Self {
            http_method,
            server,
            url,
            peer: None,
            revision: None,
            only_revision: None,
            operation: None,
            may_ask_user: true,
            previous: 0,
            state: None,
        }
    }
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
