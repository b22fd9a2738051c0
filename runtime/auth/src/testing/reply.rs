//! Responses, and their delivery over the network.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use serde_json::{Value, json};
use tokio::time::{Interval, interval};

/// Response, and the form of its delivery.
#[derive(Debug)]
pub(super) enum Delivery {
    Whole(Response<Bytes>),
    /// A JSON document of this many bytes.
    Huge(u64),
    /// One byte a second, without end.
    Slow,
    Silent,
    /// The connection is closed in place of the answer.
    Lost,
}

/// Error response of OAuth.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) description: &'static str,
}

impl Failure {
    /// Returns an error of status 400.
    pub(super) fn new(code: &'static str, description: &'static str) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code,
            description,
        }
    }

    /// Returns the error of a client that did not authenticate, with status 401.
    pub(super) fn client(description: &'static str) -> Self {
        Self {
            status: StatusCode::UNAUTHORIZED,
            ..Self::new("invalid_client", description)
        }
    }
}

impl From<Failure> for Response<Bytes> {
    fn from(failure: Failure) -> Self {
        let (status, code) = (failure.status, failure.code);
        let mut response = json_response(
            status,
            &json!({ "error": code, "error_description": failure.description }),
        );
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Basic realm=\"authorization server\"");
            let headers = response.headers_mut();
            headers.insert(http::header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// Returns a JSON response that no cache stores.
pub(super) fn json_response(status: StatusCode, document: &Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(document.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns an empty response.
pub(super) fn empty_response(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns a redirect. A `location` that no header can contain makes an error response.
pub(super) fn redirect_response(location: &str) -> Response<Bytes> {
    let Ok(location) = HeaderValue::from_str(location) else {
        return Failure::new("invalid_request", "the redirect URI is malformed").into();
    };
    let mut response = empty_response(StatusCode::FOUND);
    response.headers_mut().insert(LOCATION, location);
    response
}

/// Body of a response.
#[derive(Debug)]
pub(super) enum ReplyBody {
    Whole(Option<Bytes>),
    /// The number of bytes that are missing.
    Huge(u64),
    Slow(Interval),
}

impl ReplyBody {
    pub(super) fn slow() -> Self {
        Self::Slow(interval(Duration::from_secs(1)))
    }
}

/// Size of the chunks of a huge document.
const CHUNK: usize = 16 * 1024;

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match self.get_mut() {
            Self::Whole(data) => data.take(),
            Self::Huge(0) => None,
            Self::Huge(missing) => {
                let length = usize::try_from(*missing).map_or(CHUNK, |missing| missing.min(CHUNK));
                *missing -= length as u64;
                // Blanks in front of a JSON document are part of a valid document.
                Some(Bytes::from(vec![b' '; length]))
            }
            Self::Slow(interval) => {
                std::task::ready!(interval.poll_tick(context));
                Some(Bytes::from_static(b" "))
            }
        };
        Poll::Ready(data.map(|data| Ok(Frame::data(data))))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(data) => {
                SizeHint::with_exact(data.as_ref().map_or(0, |data| data.len() as u64))
            }
            Self::Huge(_) | Self::Slow(_) => SizeHint::default(),
        }
    }
}
