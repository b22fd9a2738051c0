//! One attempt: a request and its response.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::time::{Instant, timeout, timeout_at};
use treenail_http_client::HttpClientBody;
use treenail_http_client::HttpError;
use treenail_http_client::body::{self, End};
use treenail_http_client::response::{describe_redirect, is_compressed, media_type};
use treenail_http_client::sse::{Parser, Position};
use treenail_runtime::internal::deadline;
use treenail_schema::internal::quoted;

use super::Endpoint;
use super::failure::Failure;
use super::response::{Assembler, Progress};

/// Maximum number of bytes read from an error response.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// Timeout for the rest of a stream after the message is complete; only its usage may follow.
const USAGE_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends a request and feeds the response to `assembler`. A complete message is not an error, whatever ended the response.
pub(super) async fn run(
    endpoint: &Endpoint,
    body: Bytes,
    assembler: &mut Assembler<'_>,
) -> Result<(), Failure> {
    let limit = endpoint.limits.response_timeout;
    let done = timeout(limit, exchange(endpoint, body, assembler)).await;
    let done = done.unwrap_or_else(|_| {
        if assembler.is_complete() {
            return Ok(());
        }
        let why = format!("the response exceeded its timeout of {limit:?}");
        Err(Failure::transient(why))
    });
    done.map_err(|failure| failure.redacted(endpoint))
}

async fn exchange(
    endpoint: &Endpoint,
    body: Bytes,
    assembler: &mut Assembler<'_>,
) -> Result<(), Failure> {
    let deadline = deadline::after(endpoint.limits.first_byte_timeout);
    let response = send(endpoint, body, deadline).await?;
    let (head, mut body) = response.into_parts();
    if !head.status.is_success() {
        return Err(error_response(endpoint, head.status, &head.headers, body).await);
    }
    if is_compressed(&head.headers) {
        let why = "the response is compressed, although that was not requested";
        return Err(Failure::invalid_response(why));
    }
    match media_type(&head.headers).as_deref() {
        Some("text/event-stream") => stream(endpoint, body, deadline, assembler).await,
        Some("application/json") => {
            let whole = read_body(&mut body, endpoint.limits.event_bytes).await?;
            assembler.on_body(&whole)
        }
        other => {
            let other = quoted(other.unwrap_or_default());
            let why = format!(
                "the response has the content type {other}, expected JSON or an event stream"
            );
            Err(Failure::invalid_response(why))
        }
    }
}

async fn send(
    endpoint: &Endpoint,
    body: Bytes,
    deadline: Instant,
) -> Result<Response<HttpClientBody>, Failure> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = endpoint.url.clone();
    request.headers_mut().clone_from(&endpoint.headers);
    match timeout_at(deadline, endpoint.pool.send(request)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(HttpError::Unreachable(why) | HttpError::Closed(why))) => {
            Err(Failure::transient(&*why))
        }
        Ok(Err(other)) => Err(Failure::transient(other.to_string())),
        Err(_) => Err(first_byte_failure(endpoint)),
    }
}

fn first_byte_failure(endpoint: &Endpoint) -> Failure {
    let limit = endpoint.limits.first_byte_timeout;
    Failure::transient(format!("no response within {limit:?}"))
}

async fn error_response(
    endpoint: &Endpoint,
    status: StatusCode,
    headers: &HeaderMap,
    mut body: HttpClientBody,
) -> Failure {
    if status.is_redirection() {
        return Failure::redirected(describe_redirect(headers));
    }
    let reading = body::read(&mut body, MAX_ERROR_BYTES);
    let read = timeout(endpoint.limits.idle_timeout, reading).await;
    let bytes = read.map(|(bytes, _)| bytes).unwrap_or_default();
    Failure::from_status(status, headers, &bytes)
}

async fn read_body(body: &mut HttpClientBody, max: usize) -> Result<Vec<u8>, Failure> {
    match body::read(body, max).await {
        (bytes, End::Complete) => Ok(bytes),
        (_, End::TooLong) => Err(Failure::invalid_response(format!(
            "the response has more than {max} bytes"
        ))),
        (_, End::Broken(reason)) => Err(interrupted(&reason)),
    }
}

fn interrupted(why: &str) -> Failure {
    Failure::transient(format!("the response was interrupted: {why}"))
}

/// Reads a stream until the message is complete.
async fn stream(
    endpoint: &Endpoint,
    mut body: HttpClientBody,
    first: Instant,
    assembler: &mut Assembler<'_>,
) -> Result<(), Failure> {
    let limits = &endpoint.limits;
    let mut parser = Parser::new(limits.event_bytes, Position::default());
    let mut deadline = first;
    let mut has_started = false;
    let mut usage_deadline = None;
    loop {
        let piece = match timeout_at(deadline, body::next_chunk(&mut body)).await {
            Ok(Some(Ok(piece))) => piece,
            // A complete message lacks only its usage, whatever ended the stream.
            _ if assembler.is_complete() => return Ok(()),
            Ok(None) => return Err(interrupted("unexpected end of the stream")),
            Ok(Some(Err(error))) => return Err(interrupted(&error.to_string())),
            Err(_) if !has_started => return Err(first_byte_failure(endpoint)),
            Err(_) => {
                let limit = limits.idle_timeout;
                return Err(interrupted(&format!("no data within {limit:?}")));
            }
        };
        has_started = true;
        let mut rest = &piece[..];
        while let Some(event) = parser.next(&mut rest) {
            let is_complete = assembler.is_complete();
            match assembler.on_event(event) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => {
                    body::release(body);
                    return Ok(());
                }
                // Of an event after the message, such as an unreadable usage.
                Err(_) if is_complete => return Ok(()),
                Err(failure) => return Err(failure),
            }
        }
        deadline = if assembler.is_complete() {
            // Set once, because keep-alive comments may follow without end.
            let usage_timeout = USAGE_TIMEOUT.min(limits.idle_timeout);
            *usage_deadline.get_or_insert_with(|| deadline::after(usage_timeout))
        } else {
            deadline::after(limits.idle_timeout)
        };
    }
}
