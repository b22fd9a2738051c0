//! One request, from its beginning to the end of its answer.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout, timeout_at};

use super::Endpoint;
use super::answer::{Assembly, Progress};
use super::failure::Failure;
use crate::client::ClientError;
use crate::client::fetch::body::{self, End};
use crate::client::fetch::head::{is_compressed, media_type, redirect};
use crate::client::fetch::sse::{Parser, Position};
use crate::deadline::after;
use crate::wire::quoted;

/// Bytes of the body of an error that are read.
const ERROR_BYTES: usize = 64 * 1024;
/// How long the rest of a stream is waited for when the message is complete: only its usage may follow.
const REST: Duration = Duration::from_secs(2);

/// Sends a request, and takes its answer into `assembly`.
pub(super) async fn run(
    endpoint: &Endpoint,
    body: Bytes,
    assembly: &mut Assembly<'_>,
) -> Result<(), Failure> {
    let limit = endpoint.limits.answer_within;
    let done = timeout(limit, converse(endpoint, body, assembly)).await;
    let done = done.unwrap_or_else(|_| {
        let why = format!("its message took longer than {limit:?}");
        Err(Failure::passing(why))
    });
    done.map_err(|failure| failure.censored(endpoint))
}

async fn converse(
    endpoint: &Endpoint,
    body: Bytes,
    assembly: &mut Assembly<'_>,
) -> Result<(), Failure> {
    let deadline = after(endpoint.limits.first_byte_within);
    let response = send(endpoint, body, deadline).await?;
    let (head, mut body) = response.into_parts();
    if !head.status.is_success() {
        return Err(failed(endpoint, head.status, &head.headers, body).await);
    }
    if is_compressed(&head.headers) {
        let why = "it is compressed, which was not asked for";
        return Err(Failure::broken(why));
    }
    match media_type(&head.headers).as_deref() {
        Some("text/event-stream") => stream(endpoint, body, deadline, assembly).await,
        Some("application/json") => {
            let whole = whole(&mut body, endpoint.limits.event_bytes).await?;
            assembly.take_whole(&whole)
        }
        other => {
            let other = quoted(other.unwrap_or_default());
            let why = format!("it is of the type {other}, neither JSON nor a stream of events");
            Err(Failure::broken(why))
        }
    }
}

async fn send(
    endpoint: &Endpoint,
    body: Bytes,
    deadline: Instant,
) -> Result<Response<Incoming>, Failure> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = endpoint.url.clone();
    request.headers_mut().clone_from(&endpoint.headers);
    match timeout_at(deadline, endpoint.engine.send(request)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(ClientError::Closed(why))) => Err(Failure::passing(&*why)),
        Ok(Err(other)) => Err(Failure::passing(other.to_string())),
        Err(_) => Err(no_byte(endpoint)),
    }
}

fn no_byte(endpoint: &Endpoint) -> Failure {
    let limit = endpoint.limits.first_byte_within;
    Failure::passing(format!("nothing came within {limit:?}"))
}

async fn failed(
    endpoint: &Endpoint,
    status: StatusCode,
    headers: &HeaderMap,
    mut body: Incoming,
) -> Failure {
    if status.is_redirection() {
        return Failure::redirected(redirect(headers));
    }
    let reading = body::read(&mut body, ERROR_BYTES);
    let read = timeout(endpoint.limits.idle_within, reading).await;
    let bytes = read.map(|(bytes, _)| bytes).unwrap_or_default();
    Failure::of_status(status, headers, &bytes)
}

async fn whole(body: &mut Incoming, most: usize) -> Result<Vec<u8>, Failure> {
    match body::read(body, most).await {
        (bytes, End::Whole) => Ok(bytes),
        (_, End::TooLong) => Err(Failure::broken(format!("it has more than {most} bytes"))),
        (_, End::Broken(error)) => Err(broken_off(&error.to_string())),
    }
}

fn broken_off(why: &str) -> Failure {
    Failure::passing(format!("its answer has broken off: {why}"))
}

/// Reads a stream until the message is complete.
async fn stream(
    endpoint: &Endpoint,
    mut body: Incoming,
    first: Instant,
    assembly: &mut Assembly<'_>,
) -> Result<(), Failure> {
    let limits = &endpoint.limits;
    let mut parser = Parser::new(limits.event_bytes, Position::default());
    let mut deadline = first;
    let mut has_begun = false;
    loop {
        let piece = match timeout_at(deadline, body::next(&mut body)).await {
            Ok(Some(Ok(piece))) => piece,
            // Whatever ends a stream whose message is complete, nothing is missing but its usage.
            _ if assembly.is_complete() => return Ok(()),
            Ok(None) => return Err(broken_off("the stream ends in the middle")),
            Ok(Some(Err(error))) => return Err(broken_off(&error.to_string())),
            Err(_) if !has_begun => return Err(no_byte(endpoint)),
            Err(_) => {
                let limit = limits.idle_within;
                return Err(broken_off(&format!("nothing more came within {limit:?}")));
            }
        };
        has_begun = true;
        let mut rest = &piece[..];
        while let Some(event) = parser.next(&mut rest) {
            if assembly.take(event)? == Progress::Done {
                body::release(body);
                return Ok(());
            }
        }
        let patience = if assembly.is_complete() {
            REST.min(limits.idle_within)
        } else {
            limits.idle_within
        };
        deadline = after(patience);
    }
}
