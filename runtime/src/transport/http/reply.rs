//! What goes back: a response and its body.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};

use crate::transport::http::exchange::Exchange;
use crate::transport::http::legacy::Replay;
use crate::wire::{RpcError, write_error};

/// The body of an answer: one JSON text, or a stream of server-sent events that goes on while the call does.
///
/// Dropping it before its end tells the server that nobody reads on.
pub struct HttpBody(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Stream(Box<Exchange>),
    Replay(Box<Replay>),
}

impl HttpBody {
    fn whole(bytes: Vec<u8>) -> Self {
        Self(Kind::Whole((!bytes.is_empty()).then(|| bytes.into())))
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
            Kind::Stream(exchange) => exchange.is_over(),
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

/// A request that is answered without being served.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    /// The text of the request's id, if it could be read.
    id: Option<Box<str>>,
    error: Option<Box<RpcError>>,
    allowed: Option<&'static str>,
}

impl Refusal {
    /// A refusal whose body says why; the words are ours alone.
    pub(super) fn new(status: StatusCode, why: &'static str) -> Self {
        Self::of(status, None, RpcError::invalid_request(why))
    }

    pub(super) fn of(status: StatusCode, id: Option<&str>, error: RpcError) -> Self {
        Self {
            status,
            id: id.map(Into::into),
            error: Some(Box::new(error)),
            allowed: None,
        }
    }

    /// The same for the request with this id.
    pub(super) fn to(mut self, id: &str) -> Self {
        self.id = Some(id.into());
        self
    }

    /// A refusal of a method, where there are others.
    pub(super) fn method(allowed: &'static str) -> Self {
        Self {
            allowed: Some(allowed),
            ..Self::bare(StatusCode::METHOD_NOT_ALLOWED)
        }
    }

    /// A refusal that has no body.
    pub(super) fn bare(status: StatusCode) -> Self {
        Self {
            status,
            id: None,
            error: None,
            allowed: None,
        }
    }

    pub(super) fn into_response(self) -> Response<HttpBody> {
        let mut body = Vec::new();
        if let Some(error) = &self.error {
            write_error(&mut body, self.id.as_deref(), error);
        }
        let mut response = json(self.status, body);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            let soon = HeaderValue::from_static("1");
            response.headers_mut().insert(RETRY_AFTER, soon);
        }
        if let Some(methods) = self.allowed {
            let methods = HeaderValue::from_static(methods);
            response.headers_mut().insert(ALLOW, methods);
        }
        response
    }
}

/// A response with one JSON text, or without a body.
pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response<HttpBody> {
    let content = (!body.is_empty()).then_some("application/json");
    respond(status, content, HttpBody::whole(body))
}

/// A response that streams what comes of a message.
pub(super) fn stream(exchange: Exchange) -> Response<HttpBody> {
    streaming(HttpBody(Kind::Stream(Box::new(exchange))))
}

/// A response that streams what a session keeps.
pub(super) fn replay(replay: Replay) -> Response<HttpBody> {
    streaming(HttpBody(Kind::Replay(Box::new(replay))))
}

fn streaming(body: HttpBody) -> Response<HttpBody> {
    let mut response = respond(StatusCode::OK, Some("text/event-stream"), body);
    // Proxies of the nginx kind would keep the events back otherwise.
    response.headers_mut().insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

fn respond(
    status: StatusCode,
    content: Option<&'static str>,
    body: HttpBody,
) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if let Some(content) = content {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}
