//! HTTP+SSE of 2024-11-05: one stream for all messages of the server, and an endpoint to post to.

use std::sync::Arc;
use std::time::Duration;

use http::{StatusCode, Uri};
use treenail_http_client::sse::{Event, Position};
use treenail_http_client::url::same_origin;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::timeout::timeout;

use crate::events::Events;
use crate::get_stream;
use crate::inner::Inner;
use crate::response::{ErrorResponse, HttpResponse, RequestUrl};
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

/// Maximum time until the stream has named the endpoint, which servers of 2024-11-05 do at once. Other servers may keep a stream open
/// without one.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens the stream, waits for the endpoint, and reads on in the background.
///
/// # Errors
///
/// `error`, the response to the POST, if the server does not support this transport either. The error of the stream, if it is refused
/// for want of an authorization.
pub(crate) async fn connect(
    inner: &Arc<Inner>,
    mut state: SessionState,
    error: ErrorResponse,
) -> Result<SessionState, ClientError> {
    let opened = timeout(ENDPOINT_TIMEOUT, open(inner, &state));
    let Some((events, endpoint)) = opened.await.unwrap_or(Ok(None))? else {
        return Err(error.into());
    };
    state.transport = LegacyTransport::HttpSse(endpoint);
    let transport = state.transport.clone();
    inner.state.switch_transport(state.handshake, transport);
    spawn_reader(inner, events, state.handshake);
    // The stream may have ended already, which fails the request with its reason.
    Ok(state)
}

/// Opens the stream, and returns it with the endpoint that it names; `None` if the server does not support this transport.
async fn open(
    inner: &Arc<Inner>,
    state: &SessionState,
) -> Result<Option<(Events, Uri)>, ClientError> {
    let response = match inner.sender.request_stream(state, None).await {
        Ok(response) => response,
        Err(refused @ ClientError::Authorization(_)) => return Err(refused),
        Err(_) => return Ok(None),
    };
    // The endpoint is relative to the URL of the stream, which may be the target of a redirect.
    let redirected = response.extensions().get::<RequestUrl>().cloned();
    let url = redirected.map_or_else(|| inner.sender.url.clone(), |RequestUrl(url)| url);
    let body = match HttpResponse::read(response, &inner.limits).await {
        Ok(HttpResponse::Events(body)) => body,
        // The server supports this transport, or another one, for authorized clients.
        Ok(HttpResponse::Error(refused)) if refused.status == StatusCode::UNAUTHORIZED => {
            return Err(refused.into());
        }
        _ => return Ok(None),
    };
    let mut events = Events::new(body, inner.limits.message_bytes, Position::default());
    while let Some(event) = events.next().await {
        if let Event::Endpoint(data) = event {
            let endpoint = resolve(&url, &data)?;
            return Ok(Some((events, endpoint)));
        }
    }
    Ok(None)
}

fn spawn_reader(inner: &Arc<Inner>, mut events: Events, handshake: u64) {
    let reading = Arc::clone(inner);
    let task = tokio::spawn(async move {
        let read = get_stream::read(&reading, &mut events, handshake);
        if reading.state.while_open(read).await.is_some() {
            on_stream_end(&reading, handshake);
        }
    });
    inner.state.set_reader(handshake, &task.abort_handle());
}

/// Ends the session, since this transport cannot resume its stream. The next message needs another one.
fn on_stream_end(inner: &Inner, handshake: u64) {
    let transport = LegacyTransport::Expired;
    if inner.state.switch_transport(handshake, transport) {
        let reason = ClientError::closed("the stream of the server has ended");
        inner.dispatcher.pending.fail_all(&reason);
        inner.dispatcher.note_gap();
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
