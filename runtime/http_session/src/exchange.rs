//! Request and answer over HTTP.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use tokio::runtime::Handle;
use treenail_http_client::sse::Position;
use treenail_runtime::client::{ClientError, SessionRequest};
use treenail_runtime::internal::error_in;
use treenail_schema::Revision;

use crate::authorized::Subject;
use crate::events::Events;
use crate::inner::{Inner, closed};
use crate::response::{ErrorResponse, HttpResponse};
use crate::response_stream::{read_resumable, read_until_answer, stream_ended};
use crate::sender::Parts;
use crate::session_state::SessionState;
use crate::source::Source;
use crate::sse_2024_11_05::{self, may_be_http_sse};
use crate::{Answer, headers, message, unknown_session};

/// Sends a modern request. The future owns the whole exchange, so dropping it closes the stream.
pub(crate) async fn send_modern(
    inner: &Arc<Inner>,
    request: &SessionRequest,
    revision: Revision,
) -> Answer {
    let response = inner.sender.post(&inner.sender.url, request.into(), || {
        let headers = headers::of_request(request, revision)?;
        let body = message::request(request);
        Ok(Parts { headers, body })
    });
    let response = response.await?;
    let source = Source::Modern(request.id);
    match HttpResponse::read(response, &inner.limits).await? {
        HttpResponse::Events(body) => {
            let mut events = Events::new(body, inner.limits.message_bytes, Position::default());
            let answer = read_until_answer(inner, &mut events, source).await;
            match answer {
                Some(answer) => {
                    events.release();
                    answer
                }
                None => Err(stream_ended(None)),
            }
        }
        other => answer_in_body(inner, other, source).await,
    }
}

/// Sends a legacy request. Its answer may arrive on any stream of the session, but usually arrives on its own.
pub(crate) async fn send_legacy(inner: &Arc<Inner>, request: &SessionRequest) -> Answer {
    if starts_session(request) {
        inner.state.reset();
    }
    // Before the state is read, so that the end of its session fails the request.
    let elsewhere = inner.dispatcher.pending.insert(request.id);
    let state = inner.state.update_revision(request.revision);
    let mut pending = PendingReply {
        inner,
        id: request.id,
        runtime: Handle::current(),
        is_cancellable: request.cancellable && !starts_session(request),
        in_flight: AtomicBool::new(false),
    };
    let exchange = async { Ok(exchange(&pending, request, state).await) };
    let elsewhere = async { elsewhere.await.unwrap_or_else(|_| Err(closed())) };
    // Without an answer of the server, the request is cancelled.
    let answer = first(exchange, elsewhere).await?;
    pending.is_cancellable = false;
    answer
}

fn starts_session(request: &SessionRequest) -> bool {
    request.method == "initialize"
}

/// A request without an answer yet. Dropping it cancels the request on the server, if the server may have it.
struct PendingReply<'a> {
    inner: &'a Arc<Inner>,
    id: i64,
    runtime: Handle,
    is_cancellable: bool,
    /// False while credentials are obtained: the server has refused all attempts to send the request.
    in_flight: AtomicBool,
}

impl Drop for PendingReply<'_> {
    fn drop(&mut self) {
        self.inner.dispatcher.pending.remove(self.id);
        let is_cancelled = self.is_cancellable && *self.in_flight.get_mut();
        if is_cancelled && !self.inner.state.is_closed() {
            self.inner.send_cancellation(&self.runtime, self.id);
        }
    }
}

async fn exchange(
    reply: &PendingReply<'_>,
    request: &SessionRequest,
    state: SessionState,
) -> Answer {
    let inner = reply.inner;
    let error = match post(reply, request, &state).await {
        Ok(answer) => return answer,
        Err(error) => error,
    };
    if !starts_session(request) || !may_be_http_sse(&error) {
        if state.id.is_some() && error.may_refuse_session(request.id) {
            // The server has refused the request, so that there is nothing to cancel.
            reply.in_flight.store(false, Ordering::Relaxed);
            // Boxed: it is rare, and must not enlarge the future of every request.
            return Err(Box::pin(unknown_session::error_for(inner, &state, error)).await);
        }
        return Err(inner.state.error_for(error, &state));
    }
    // Boxed for the same reason.
    let state = Box::pin(sse_2024_11_05::connect(inner, state, error)).await?;
    let posted = post(reply, request, &state).await;
    posted.unwrap_or_else(|error| Err(error.into()))
}

async fn post(
    reply: &PendingReply<'_>,
    request: &SessionRequest,
    state: &SessionState,
) -> Result<Answer, ErrorResponse> {
    let inner = reply.inner;
    let response = match send(reply, request, state).await {
        Ok(response) => response,
        Err(error) => return Ok(Err(error)),
    };
    match response {
        HttpResponse::Error(error) => Err(error),
        HttpResponse::Accepted if state.is_http_sse() => pending().await,
        HttpResponse::Events(body) => {
            Ok(read_resumable(inner, body, request.id, state.handshake).await)
        }
        other => {
            let (id, handshake) = (request.id, state.handshake);
            Ok(answer_in_body(inner, other, Source::Legacy { id, handshake }).await)
        }
    }
}

async fn send(
    reply: &PendingReply<'_>,
    request: &SessionRequest,
    state: &SessionState,
) -> Result<HttpResponse, ClientError> {
    let inner = reply.inner;
    let to = state.target(&inner.sender.url, Some(&request.method))?;
    let subject = Subject {
        in_flight: Some(&reply.in_flight),
        ..request.into()
    };
    let response = inner.sender.post(to, subject, || {
        let (headers, body) = (state.headers(), message::request(request));
        Ok(Parts { headers, body })
    });
    let response = response.await?;
    if state.is_http_sse() {
        let accepted = HttpResponse::expect_success(response).await;
        return Ok(accepted.map_or_else(HttpResponse::Error, |()| HttpResponse::Accepted));
    }
    if response.status().is_success() {
        if starts_session(request) {
            let headers = response.headers();
            inner.state.store_session_id(state.handshake, headers)?;
        } else if state.is_untried {
            inner.state.note_answer(state.handshake);
        }
    }
    HttpResponse::read(response, &inner.limits).await
}

/// Returns the answer in a response that is not a stream.
async fn answer_in_body(inner: &Arc<Inner>, response: HttpResponse, source: Source) -> Answer {
    match response {
        HttpResponse::Json(bytes) => {
            let answer = inner.dispatcher.dispatch(&bytes, source).await;
            // The body answers the request that was posted, so the id of an error is ignored.
            answer.unwrap_or_else(|| {
                let reason = "a response contains no answer to its request";
                let error = error_in(&bytes).map(ClientError::Refused);
                Err(error.unwrap_or_else(|| ClientError::protocol(reason)))
            })
        }
        HttpResponse::Error(error) => Err(error.into()),
        HttpResponse::Accepted | HttpResponse::Events(_) => Err(ClientError::protocol(
            "a request was accepted without an answer",
        )),
    }
}

/// Waits for the future that is ready first.
async fn first<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        ready @ Poll::Ready(_) => ready,
    })
    .await
}
