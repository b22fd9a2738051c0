//! HTTP+SSE of 2024-11-05: one stream for all messages of the server, and an endpoint to post to.

use std::sync::Arc;

use http::{StatusCode, Uri};
use treenail_http_client::sse::{Event, Position};
use treenail_http_client::url::same_origin;
use treenail_runtime::client::ClientError;

use crate::events::Events;
use crate::get_stream;
use crate::inner::Inner;
use crate::response::{ErrorResponse, HttpResponse};
use crate::session_state::{LegacyTransport, SessionState};

/// Returns true if the response to `initialize` may be that of a server of 2024-11-05, which accepts no POST at this URL.
pub(crate) fn may_be_http_sse(error: &ErrorResponse) -> bool {
    const STATUSES: [StatusCode; 3] = [
        StatusCode::BAD_REQUEST,
        StatusCode::NOT_FOUND,
        StatusCode::METHOD_NOT_ALLOWED,
    ];
    error.rpc_error.is_none() && STATUSES.contains(&error.status)
}

/// Opens the stream, waits for the endpoint, and reads on in the background.
///
/// # Errors
///
/// `error`, the response to the POST, if the server does not support this transport either. The error of the stream, if it is refused
/// for want of an authorization.
pub(crate) async fn connect(
    inner: &Arc<Inner>,
    state: SessionState,
    error: ErrorResponse,
) -> Result<SessionState, ClientError> {
    let body = match inner.sender.get(&state, None).await {
        Ok(HttpResponse::Events(body)) => body,
        // The server supports this transport, or another one, for authorized clients.
        Ok(HttpResponse::Error(refused)) if refused.status == StatusCode::UNAUTHORIZED => {
            return Err(refused.into());
        }
        Err(refused @ ClientError::Authorization(_)) => return Err(refused),
        _ => return Err(error.into()),
    };
    let mut events = Events::new(body, inner.limits.message_bytes, Position::default());
    let endpoint = loop {
        match events.next().await {
            Some(Event::Endpoint(data)) => break resolve(&inner.sender.url, &data)?,
            Some(_) => {}
            None => return Err(error.into()),
        }
    };
    let transport = LegacyTransport::HttpSse(endpoint);
    inner.state.switch_transport(state.handshake, transport);
    spawn_reader(inner, events, state.handshake);
    Ok(inner.state.current())
}

fn spawn_reader(inner: &Arc<Inner>, mut events: Events, handshake: u64) {
    let reading = Arc::clone(inner);
    let task = tokio::spawn(async move {
        let read = get_stream::read(&reading, &mut events);
        if reading.state.while_open(read).await.is_some() {
            on_stream_end(&reading, handshake);
        }
    });
    inner.state.set_reader(handshake, &task.abort_handle());
}

/// Ends the connection, since this transport cannot resume its stream.
fn on_stream_end(inner: &Inner, handshake: u64) {
    let transport = LegacyTransport::StreamLost;
    if inner.state.switch_transport(handshake, transport) {
        let reason = ClientError::closed("the stream of the server has ended");
        inner.dispatcher.close(&reason);
    }
}

/// Resolves the endpoint, which must have the same origin: a server must not send our headers elsewhere.
fn resolve(url: &Uri, reference: &[u8]) -> Result<Uri, ClientError> {
    same_origin(url, reference)
        .map_err(|reason| ClientError::protocol(format!("the endpoint to post to {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_posted_to_the_same_origin_only() {
        let url = Uri::from_static("http://example.com/mcp/sse?a=b");
        let cases = [
            (
                "/messages?session=1",
                Some("http://example.com/messages?session=1"),
            ),
            ("messages", Some("http://example.com/mcp/messages")),
            ("?session=1", Some("http://example.com/mcp/sse?session=1")),
            ("http://EXAMPLE.com:80/x", Some("http://example.com:80/x")),
            ("http://example.com:8080/x", None),
            ("https://example.com/x", None),
            ("http://example.com.evil.example/x", None),
            ("//evil.example/x", None),
            ("http://me@example.com/x", None),
            ("file:///etc/passwd", None),
            ("a b", None),
            ("http://[", None),
        ];
        for (reference, expected) in cases {
            let target = resolve(&url, reference.as_bytes());
            let target = target.ok().map(|target| target.to_string().to_lowercase());
            assert_eq!(target.as_deref(), expected, "CLI-SSE-01: {reference}");
        }
    }
}
