//! Exchanges of a server over HTTP, watched.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use treenail_http_client::sse::{Event, Parser, Position};
use treenail_http_server::HttpBody;
use treenail_schema::Revision;

use super::monitor::messages;
use super::{Monitor, Rules};
use crate::world::World;

/// Maximum size of an event in bytes.
const MAX_EVENT_BYTES: usize = 64 << 20;

/// Request over HTTP and its response. Dropping it before the end is noted as the end of the connection.
pub(crate) struct Exchange {
    monitor: Monitor,
    ended: bool,
}

/// Kind of an exchange, from its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExchangeKind {
    /// Request of the modern era: all messages are its own.
    Modern,
    /// Message of the legacy era: its stream may end before the response, which is then read elsewhere.
    Legacy,
    /// Stream of the legacy era without a request, which may repeat the messages of others.
    Stream,
}

impl ExchangeKind {
    fn of(parts: &Parts) -> Self {
        let version = parts.headers.get("mcp-protocol-version");
        let revision = version.and_then(|version| version.to_str().ok()?.parse::<Revision>().ok());
        match (&parts.method, revision) {
            (&Method::POST, Some(revision)) if revision.is_modern() => Self::Modern,
            (&Method::POST, _) => Self::Legacy,
            _ => Self::Stream,
        }
    }

    fn rules(self, is_rough: bool) -> Rules {
        Rules {
            own_requests: self != Self::Stream,
            complete: self == Self::Modern,
            timely: self == Self::Modern && !is_rough,
        }
    }
}

impl Exchange {
    /// Starts with a request.
    pub(crate) fn new(
        world: &Arc<World>,
        name: &Arc<str>,
        (parts, body): (&Parts, &[u8]),
        is_rough: bool,
    ) -> Self {
        let kind = ExchangeKind::of(parts);
        let mut monitor = Monitor::new(world, name, kind.rules(is_rough));
        if body.is_empty() {
            world.log(format!("[{name}] > {}", parts.method));
        } else {
            monitor.received(body);
        }
        Self {
            monitor,
            ended: false,
        }
    }

    /// Watches a response.
    pub(crate) fn watch(self, response: Response<HttpBody>) -> Response<WatchedBody> {
        let kind = response.headers().get(CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let status = response.status();
        let bare = !status.is_success() || status == StatusCode::ACCEPTED;
        let parser = is_stream.then(|| Parser::new(MAX_EVENT_BYTES, Position::default()));
        let is_empty = response.body().is_end_stream();
        let response = response.map(|inner| WatchedBody {
            inner,
            exchange: self,
            bare: bare.then_some(status),
            parser,
            whole: Vec::new(),
        });
        response.map(|mut body| {
            // hyper does not poll an empty body.
            if is_empty {
                body.end();
            }
            body
        })
    }

    fn end(&mut self, complete: bool) {
        if !std::mem::replace(&mut self.ended, true) {
            self.monitor.ended(complete);
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.end(false);
    }
}

/// Body of a watched response.
pub(crate) struct WatchedBody {
    inner: HttpBody,
    exchange: Exchange,
    /// Status that answers the request, if the body is no message.
    bare: Option<StatusCode>,
    /// `None` for a body that is one JSON text.
    parser: Option<Parser>,
    whole: Vec<u8>,
}

impl WatchedBody {
    fn add(&mut self, mut bytes: &[u8]) {
        let Some(parser) = &mut self.parser else {
            self.whole.extend_from_slice(bytes);
            return;
        };
        while let Some(event) = parser.next(&mut bytes) {
            match event {
                Event::Message(message) if !message.is_empty() => {
                    self.exchange.monitor.sent(&message);
                }
                _ => {}
            }
        }
    }

    fn end(&mut self) {
        let whole = std::mem::take(&mut self.whole);
        match self.bare.take() {
            // An `HttpAuthorizer` refuses requests with any body.
            Some(status)
                if whole.is_empty() || (!status.is_success() && messages(&whole).is_empty()) =>
            {
                let text = format!("status {}", status.as_u16());
                self.exchange.monitor.answered(&text);
            }
            _ if whole.is_empty() => {}
            _ => self.exchange.monitor.sent(&whole),
        }
        self.exchange.end(true);
    }
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let Some(Ok(frame)) = ready!(Pin::new(&mut this.inner).poll_frame(context)) else {
            this.end();
            return Poll::Ready(None);
        };
        if let Some(bytes) = frame.data_ref() {
            let bytes = bytes.clone();
            this.add(&bytes);
        }
        // hyper does not poll a body that has ended.
        if this.inner.is_end_stream() {
            this.end();
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
