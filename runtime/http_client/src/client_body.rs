//! Bodies of requests and responses of any HTTP client.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use crate::body::FullBody;
use crate::error::BoxError;

/// Body of a request or a response of an [`HttpClient`](crate::HttpClient).
///
/// ```
/// use bytes::Bytes;
/// use treenail::client::HttpClientBody;
///
/// let body = HttpClientBody::from(Bytes::from_static(b"{}"));
/// assert_eq!(body.as_bytes().map(|bytes| bytes.len()), Some(2));
///
/// // The body of a response, such as `reqwest::Body`, `axum::body::Body` or `hyper::body::Incoming`.
/// let body = HttpClientBody::new("text".to_owned());
/// assert!(body.as_bytes().is_none());
/// ```
pub struct HttpClientBody(Kind);

enum Kind {
    /// A complete body.
    Full(FullBody),
    /// The body of a response to the built-in client.
    Incoming(Incoming),
    Boxed(Pin<Box<dyn AnyBody>>),
}

/// A body whose errors are boxed.
trait AnyBody: Send {
    fn poll_any_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>>;
    fn is_at_end(&self) -> bool;
    fn any_size_hint(&self) -> SizeHint;
}

impl<B> AnyBody for B
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
{
    fn poll_any_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.poll_frame(context).map_err(Into::into)
    }

    fn is_at_end(&self) -> bool {
        self.is_end_stream()
    }

    fn any_size_hint(&self) -> SizeHint {
        self.size_hint()
    }
}

impl HttpClientBody {
    /// Creates a body from one of another type, which is read as it is received.
    pub fn new<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        Self(Kind::Boxed(Box::pin(body)))
    }

    pub(crate) fn incoming(body: Incoming) -> Self {
        Self(Kind::Incoming(body))
    }

    /// Returns the bytes of a body that is complete, as that of each request.
    pub fn as_bytes(&self) -> Option<&Bytes> {
        match &self.0 {
            Kind::Full(body) => Some(body.bytes()),
            Kind::Incoming(_) | Kind::Boxed(_) => None,
        }
    }
}

impl From<Bytes> for HttpClientBody {
    fn from(bytes: Bytes) -> Self {
        Self(Kind::Full(FullBody::new(bytes)))
    }
}

impl Body for HttpClientBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match &mut self.0 {
            Kind::Full(body) => Pin::new(body).poll_frame(context).map_err(Into::into),
            Kind::Incoming(body) => Pin::new(body).poll_frame(context).map_err(Into::into),
            Kind::Boxed(body) => body.as_mut().poll_any_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Full(body) => body.is_end_stream(),
            Kind::Incoming(body) => body.is_end_stream(),
            Kind::Boxed(body) => body.is_at_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Full(body) => body.size_hint(),
            Kind::Incoming(body) => body.size_hint(),
            Kind::Boxed(body) => body.any_size_hint(),
        }
    }
}

impl fmt::Debug for HttpClientBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpClientBody")
            .finish_non_exhaustive()
    }
}
