//! The GET stream of a legacy session, for messages that belong to no request.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use treenail_http_client::response::{is_transient, is_unauthorized};
use treenail_http_client::sse::{Event, Position};
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::{in_background_if, is_in_background};

use crate::backoff::Backoff;
use crate::events::Events;
use crate::inner::Inner;
use crate::response::{ErrorResponse, HttpResponse};
use crate::session_state::SessionState;
use crate::source::Source;

/// Longest wait of the first request for the stream. Servers open it at once, but some send the response head only with
/// the first message.
const OPEN_TIMEOUT: Duration = Duration::from_millis(250);

/// Reads the stream in the background for as long as the session lasts.
///
/// Returns once the server has responded, or after [`OPEN_TIMEOUT`]: some servers drop the requests that they send before
/// the stream is open.
pub(crate) async fn open(inner: &Arc<Inner>, state: SessionState) {
    let handshake = state.handshake;
    let reading = Arc::clone(inner);
    let (opened, is_open) = oneshot::channel();
    // A session may be renewed for a request in the background.
    let task = tokio::spawn(in_background_if(is_in_background(), async move {
        let listen = listen(&reading, &state, opened);
        reading.state.while_open(listen).await;
    }));
    inner.state.set_reader(handshake, &task.abort_handle());
    // Requests can be sent even if the stream is not open yet.
    drop(timeout(OPEN_TIMEOUT, is_open).await);
}

/// Reads the stream until the server has none any more, and reports the messages that are lost then.
async fn listen(inner: &Arc<Inner>, state: &SessionState, opened: oneshot::Sender<()>) {
    let mut was_open = false;
    let last = read_all(inner, state, opened, &mut was_open).await;
    // Some servers answer with status 404 because they have no such stream.
    if !was_open {
        return;
    }
    if let Some(error) = last {
        // The session may have expired, which concerns all other requests too.
        let error = inner.state.error_for(error, state);
        tracing::debug!(%error, "the stream of the server has ended for good");
    }
    inner.dispatcher.note_gap();
}

/// Opens the stream again whenever it ends, until the server refuses that. Returns the response, if it is an error.
async fn read_all(
    inner: &Arc<Inner>,
    state: &SessionState,
    opened: oneshot::Sender<()>,
    was_open: &mut bool,
) -> Option<ErrorResponse> {
    let mut opened = Some(opened);
    let mut position = Position::default();
    let mut backoff = Backoff::default();
    let mut is_interrupted = false;
    loop {
        let started = Instant::now();
        backoff.delivered = false;
        let response = inner.sender.get(state, position.id.as_ref());
        let response = in_background_if(*was_open, response).await;
        // Requests may have been sent before the first response, without the messages of the server after them.
        let is_late = opened.take().is_some_and(|opened| opened.send(()).is_err());
        match response {
            Ok(HttpResponse::Events(body)) => {
                // With an event id, the server repeats the messages that were lost.
                if (is_interrupted || is_late) && position.id.is_none() {
                    inner.dispatcher.note_gap();
                }
                *was_open = true;
                let mut events = Events::new(body, inner.limits.message_bytes, position);
                backoff.delivered = read(inner, &mut events, state.handshake).await;
                position = events.into_position();
            }
            Ok(HttpResponse::Error(error)) if is_transient(error.status) => {}
            // Later requests may be authorized again.
            Ok(HttpResponse::Error(error))
                if (*was_open || is_in_background()) && is_unauthorized(error.status) => {}
            Err(ClientError::Authorization(error)) if *was_open || is_in_background() => {
                tracing::debug!(%error, "the stream of the server waits for an authorization");
            }
            // The server no longer has that event, so the events after it are lost.
            Ok(HttpResponse::Error(error))
                if error.status == StatusCode::BAD_REQUEST && position.id.is_some() =>
            {
                position.id = None;
            }
            Ok(HttpResponse::Error(error)) => return Some(error),
            Ok(_) => return None,
            Err(ClientError::Closed(_) | ClientError::Unreachable(_)) => {}
            Err(error) => {
                let warning = "the stream of the server cannot be read";
                inner.dispatcher.warn_of_error(&error, warning);
                return None;
            }
        }
        is_interrupted = true;
        sleep(backoff.next_delay(&mut position, started.elapsed())).await;
    }
}

/// Dispatches the messages of a stream until it ends. Returns true if there were any.
pub(crate) async fn read(inner: &Arc<Inner>, events: &mut Events, handshake: u64) -> bool {
    let source = Source::SessionStream { handshake };
    let mut delivered = false;
    while let Some(event) = events.next().await {
        match event {
            Event::Message(data) if data.is_empty() => {}
            Event::Other(_) | Event::TooLong(_) => {}
            Event::Message(data) => {
                delivered = true;
                // This stream belongs to no request, so no answer is returned.
                let _ = inner.dispatcher.dispatch(&data, source).await;
            }
            Event::Endpoint(_) => tracing::debug!("the server sent a second `endpoint` event"),
            // The id may be at the end of the message.
            Event::Skipped(edges) => {
                let (head, tail) = (edges.head(), edges.tail());
                let _ = inner.dispatcher.reject_oversized(head, tail, source).await;
            }
        }
    }
    delivered
}
