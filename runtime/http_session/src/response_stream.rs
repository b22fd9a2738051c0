//! The stream of a response, until the answer to its request.

use std::sync::Arc;

use tokio::time::sleep;
use treenail_http_client::HttpClientBody as Body;
use treenail_http_client::response::{is_transient, is_unauthorized};
use treenail_http_client::sse::{Event, Position};
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::{id_at_ends, in_background_if};

use crate::events::Events;
use crate::inner::Inner;
use crate::response::HttpResponse;
use crate::source::Source;
use crate::{Answer, backoff};

/// Maximum number of attempts in a row to resume a stream that the server refuses for want of an authorization. Only the first one
/// may ask the user, so later ones depend on what other requests obtain.
const MAX_REFUSALS: u32 = 2;

/// Outcome of an attempt to resume a stream.
enum Resumed {
    Stream(Body),
    /// The server requires other credentials.
    Refused(ClientError),
    /// Another attempt may succeed.
    Failed(ClientError),
}

/// Reads a stream until the answer arrives; `None` if the stream ends before it.
pub(crate) async fn read_until_answer(
    inner: &Arc<Inner>,
    events: &mut Events,
    source: Source,
) -> Option<Answer> {
    loop {
        match events.next().await? {
            // Servers send an empty event only for its id.
            Event::Message(data) if data.is_empty() => {}
            Event::Message(data) => {
                if let Some(answer) = inner.dispatcher.dispatch(&data, source).await {
                    return Some(answer);
                }
            }
            // The rest of the message, which may have no end, is not needed: it seems to be the answer unless it has another id.
            Event::TooLong(head) if !id_at_ends(&head, b"").is_request => {
                let rejected = inner.dispatcher.reject_oversized(&head, b"", source);
                if let Some(answer) = rejected.await {
                    return Some(answer);
                }
            }
            // The id of a request may be at its end.
            Event::Skipped(edges) if id_at_ends(edges.head(), b"").is_request => {
                let (head, tail) = (edges.head(), edges.tail());
                let _ = inner.dispatcher.reject_oversized(head, tail, source).await;
            }
            Event::Endpoint(_) | Event::Other(_) | Event::TooLong(_) | Event::Skipped(_) => {}
        }
    }
}

/// Reads the stream of a legacy request, and resumes it when it breaks off.
pub(crate) async fn read_resumable(
    inner: &Arc<Inner>,
    body: Body,
    id: i64,
    handshake: u64,
) -> Answer {
    let limit = inner.limits.message_bytes;
    let mut events = Events::new(body, limit, Position::default());
    let mut failures = 0;
    loop {
        let source = Source::Legacy { id, handshake };
        let answer = read_until_answer(inner, &mut events, source).await;
        if let Some(answer) = answer {
            events.release();
            return answer;
        }
        let mut position = events.into_position();
        if std::mem::take(&mut position.moved) {
            failures = 0;
        }
        let body = resume(inner, &position, (handshake, &mut failures)).await?;
        events = Events::new(body, limit, position);
    }
}

/// Requests the rest of a stream, until the server sends it. `failures` counts the attempts since its last event.
async fn resume(
    inner: &Arc<Inner>,
    position: &Position,
    (handshake, failures): (u64, &mut u32),
) -> Result<Body, ClientError> {
    let (mut cause, mut refusals) = (None, 0);
    loop {
        *failures += 1;
        let is_exhausted =
            *failures > inner.limits.http.resume_attempts || refusals >= MAX_REFUSALS;
        if position.id.is_none() || is_exhausted {
            return Err(stream_ended(cause));
        }
        sleep(backoff::delay(position.retry, *failures)).await;
        let request = request_rest(inner, position, handshake);
        match in_background_if(*failures > 1, request).await? {
            Resumed::Stream(body) => return Ok(body),
            Resumed::Refused(error) => (cause, refusals) = (Some(error), refusals + 1),
            Resumed::Failed(error) => (cause, refusals) = (Some(error), 0),
        }
    }
}

/// Requests the rest of a stream once. The server has accepted the request, so no error says that the request was not sent or may be
/// sent again.
async fn request_rest(
    inner: &Arc<Inner>,
    position: &Position,
    handshake: u64,
) -> Result<Resumed, ClientError> {
    let state = inner.state.state_of(handshake);
    let state = state.map_err(|error| stream_ended(Some(error)))?;
    match inner.sender.get(&state, position.id.as_ref()).await {
        Ok(HttpResponse::Events(body)) => Ok(Resumed::Stream(body)),
        Ok(HttpResponse::Json(_) | HttpResponse::Accepted) => Err(stream_ended(None)),
        Ok(HttpResponse::Error(error)) => {
            let status = error.status;
            let error = inner.state.error_for(error, &state);
            if is_unauthorized(status) {
                return Ok(Resumed::Refused(error));
            }
            if is_transient(status) {
                return Ok(Resumed::Failed(error));
            }
            Err(stream_ended(Some(error)))
        }
        // Without credentials, nothing was sent.
        Err(
            error @ (ClientError::Authorization(_)
            | ClientError::Closed(_)
            | ClientError::Unreachable(_)),
        ) => Ok(Resumed::Failed(error)),
        Err(error) => Err(error),
    }
}

/// Returns the error after the end of the stream of a response, for this reason if it is known.
pub(crate) fn stream_ended(cause: Option<ClientError>) -> ClientError {
    match cause {
        Some(ClientError::SessionExpired) => {
            ClientError::closed("the session has ended before the answer")
        }
        Some(cause) => ClientError::closed(format!(
            "the stream of the response has ended before the answer, and could not be resumed: {cause}"
        )),
        None => ClientError::closed("the stream of the response has ended before the answer"),
    }
}
