//! HTTP responses and their bodies.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use treenail_runtime::RpcError;
use treenail_runtime::internal::{any_error_code, write_error};

use crate::exchange::Exchange;
use crate::legacy::Replay;

/// Response body: one JSON text, or a stream of server-sent events for the duration of a call.
///
/// Dropping it before its end signals the server that the client has disconnected.
pub struct HttpBody(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Stream(Box<Exchange>),
    Replay(Box<Replay>),
}

impl HttpBody {
    fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self(Kind::Whole((!bytes.is_empty()).then_some(bytes)))
    }

    /// Returns the error code, if it is the error response to one request.
    pub(super) fn error_code(&self) -> Option<i64> {
        match &self.0 {
            Kind::Whole(bytes) => any_error_code(bytes.as_ref()?),
            Kind::Stream(_) | Kind::Replay(_) => None,
        }
    }
}

impl From<Bytes> for HttpBody {
    fn from(bytes: Bytes) -> Self {
        Self::whole(bytes)
    }
}

impl fmt::Debug for HttpBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0 {
            Kind::Whole(_) => "Whole",
            Kind::Stream(_) | Kind::Replay(_) => "Stream",
        };
        formatter.debug_tuple("HttpBody").field(&kind).finish()
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut self.get_mut().0 {
            Kind::Whole(bytes) => Poll::Ready(bytes.take()),
            Kind::Stream(exchange) => exchange.poll_events(context),
            Kind::Replay(replay) => replay.poll_events(context),
        };
        bytes.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.is_none(),
            Kind::Stream(exchange) => exchange.is_finished(),
            Kind::Replay(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Stream(_) | Kind::Replay(_) => SizeHint::default(),
        }
    }
}

/// Reply to a request that has not been rejected.
pub(super) enum Reply {
    Ready(Response<HttpBody>),
    /// The response of a call, which has an allocation of its own: the future of a request is smaller without it.
    Pending(Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Rejection>> + Send>>),
}

impl Reply {
    pub(super) fn pending(
        response: impl Future<Output = Result<Response<HttpBody>, Rejection>> + Send + 'static,
    ) -> Self {
        Self::Pending(Box::pin(response))
    }
}

impl From<Response<HttpBody>> for Reply {
    fn from(response: Response<HttpBody>) -> Self {
        Self::Ready(response)
    }
}

/// Initial capacity for a response, so that most are written without growing.
pub(super) const RESPONSE_CAPACITY: usize = 512;

/// Rejection of a request before it is handled.
#[derive(Debug)]
pub(super) struct Rejection {
    status: StatusCode,
    /// JSON text of the request id, if it is known.
    id: Option<Box<str>>,
    error: Option<Box<RpcError>>,
    allowed_methods: Option<&'static str>,
}

impl Rejection {
    /// Creates a rejection with an error message. The message is static, so it never repeats input.
    pub(super) fn new(status: StatusCode, message: &'static str) -> Self {
        Self::with_error(status, None, RpcError::invalid_request(message))
    }

    pub(super) fn with_error(status: StatusCode, id: Option<&str>, error: RpcError) -> Self {
        Self {
            status,
            id: id.map(Into::into),
            error: Some(Box::new(error)),
            allowed_methods: None,
        }
    }

    /// Sets the id of the rejected request.
    pub(super) fn with_id(mut self, id: &str) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Creates a rejection of the HTTP method, with the methods that are allowed.
    pub(super) fn method_not_allowed(allowed_methods: &'static str) -> Self {
        Self {
            allowed_methods: Some(allowed_methods),
            ..Self::empty(StatusCode::METHOD_NOT_ALLOWED)
        }
    }

    /// Creates a rejection without a body.
    pub(super) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            id: None,
            error: None,
            allowed_methods: None,
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn into_response(self) -> Response<HttpBody> {
        let mut body = Vec::new();
        if let Some(error) = &self.error {
            write_error(&mut body, self.id.as_deref(), error);
        }
        let mut response = json_response(self.status, body);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            let seconds = HeaderValue::from_static("1");
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        if let Some(methods) = self.allowed_methods {
            let methods = HeaderValue::from_static(methods);
            response.headers_mut().insert(ALLOW, methods);
        }
        response
    }
}

/// Creates a response with one JSON text, or without a body if `body` is empty.
pub(super) fn json_response(status: StatusCode, body: impl Into<Bytes>) -> Response<HttpBody> {
    let body = body.into();
    let json = const { HeaderValue::from_static("application/json") };
    let content_type = (!body.is_empty()).then_some(json);
    build_response(status, content_type, HttpBody::whole(body))
}

/// Creates a response that streams the output of an exchange.
pub(super) fn exchange_stream(exchange: Exchange) -> Response<HttpBody> {
    event_stream(HttpBody(Kind::Stream(Box::new(exchange))))
}

/// Creates a response that streams stored events of a session.
pub(super) fn replay_stream(replay: Replay) -> Response<HttpBody> {
    event_stream(HttpBody(Kind::Replay(Box::new(replay))))
}

fn event_stream(body: HttpBody) -> Response<HttpBody> {
    let content_type = const { HeaderValue::from_static("text/event-stream") };
    let mut response = build_response(StatusCode::OK, Some(content_type), body);
    // nginx and similar proxies would buffer the events otherwise.
    response.headers_mut().insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

fn build_response(
    status: StatusCode,
    content_type: Option<HeaderValue>,
    body: HttpBody,
) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if let Some(content_type) = content_type {
        headers.insert(CONTENT_TYPE, content_type);
        headers.insert(
            CACHE_CONTROL,
            const { HeaderValue::from_static("no-store") },
        );
        headers.insert(
            X_CONTENT_TYPE_OPTIONS,
            const { HeaderValue::from_static("nosniff") },
        );
    }
    response
}
