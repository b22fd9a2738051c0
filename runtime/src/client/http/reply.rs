//! What a response is, by its status and its type.

use std::sync::Arc;

use http::{HeaderMap, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;

use crate::client::fetch::body::{self, End};
use crate::client::fetch::head::{is_compressed, media_type, redirect};
use crate::client::{ClientError, ClientLimits};
use crate::wire::{Members, RpcError, quoted};

/// Bytes of the body of a response that is an error: enough for a message of the protocol.
const ERROR_BYTES: usize = 64 * 1024;
/// Bytes of a body that is only read so that the connection can be used again.
const DREGS: u64 = 4 * 1024;
/// Bytes of a body that are shown to people.
const SHOWN: usize = 512;

/// A response.
#[derive(Debug)]
pub(super) enum Reply {
    Json(Vec<u8>),
    Events(Incoming),
    /// Success, and nothing more.
    Accepted,
    Failed(Failed),
}

/// A response that is no success.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) status: StatusCode,
    /// The message of the protocol that it has.
    pub(super) error: Option<RpcError>,
    body: Arc<str>,
}

impl From<Failed> for ClientError {
    fn from(failed: Failed) -> Self {
        match failed.error {
            // Credentials are a matter of HTTP, whatever the body is.
            Some(error) if failed.status != StatusCode::UNAUTHORIZED => Self::Refused(error),
            _ => Self::Http {
                status: failed.status.as_u16(),
                body: failed.body,
            },
        }
    }
}

impl Reply {
    /// Reads a response, unless it is a stream.
    ///
    /// # Errors
    ///
    /// If it is neither what the protocol allows nor an error of HTTP.
    pub(super) async fn read(
        response: Response<Incoming>,
        limits: &ClientLimits,
    ) -> Result<Self, ClientError> {
        let (head, mut body) = response.into_parts();
        if is_compressed(&head.headers) {
            let why = "a response is compressed, which was not asked for";
            return Err(ClientError::protocol(why));
        }
        if !head.status.is_success() {
            return Ok(Self::Failed(
                failed(head.status, &head.headers, &mut body).await,
            ));
        }
        match media_type(&head.headers).as_deref() {
            Some("text/event-stream") => Ok(Self::Events(body)),
            Some("application/json") if head.status != StatusCode::ACCEPTED => {
                whole(&mut body, limits.message_bytes).await.map(Self::Json)
            }
            _ if matches!(head.status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) => {
                drain(body).await;
                Ok(Self::Accepted)
            }
            None if body.size_hint().upper() == Some(0) => Ok(Self::Accepted),
            other => {
                let other = quoted(other.unwrap_or_default());
                let why =
                    format!("a response is of type {other}, neither JSON nor a stream of events");
                Err(ClientError::protocol(why))
            }
        }
    }
}

impl Reply {
    /// Reads a response to something that has no answer: only its status matters.
    pub(super) async fn accepted(response: Response<Incoming>) -> Result<(), Failed> {
        let (head, mut body) = response.into_parts();
        if !head.status.is_success() {
            return Err(failed(head.status, &head.headers, &mut body).await);
        }
        drain(body).await;
        Ok(())
    }
}

async fn whole(body: &mut Incoming, most: usize) -> Result<Vec<u8>, ClientError> {
    match body::read(body, most).await {
        (bytes, End::Whole) => Ok(bytes),
        (_, End::TooLong) => {
            let why = format!("a message has more than {most} bytes");
            Err(ClientError::protocol(why))
        }
        (_, End::Broken(error)) => {
            let why = format!("a response has broken off: {error}");
            Err(ClientError::closed(why))
        }
    }
}

/// Reads what is not needed if it is little and known to end, so that the connection can be used again.
async fn drain(mut body: Incoming) {
    let most = body.size_hint().upper();
    if most.is_some_and(|most| most <= DREGS) {
        body::read(&mut body, ERROR_BYTES).await;
    }
}

async fn failed(status: StatusCode, headers: &HeaderMap, body: &mut Incoming) -> Failed {
    if status.is_redirection() {
        return Failed {
            status,
            error: None,
            body: redirect(headers).into(),
        };
    }
    let (bytes, _) = body::read(body, ERROR_BYTES).await;
    let kind = media_type(headers).unwrap_or_default();
    let shown = kind.starts_with("text/") || kind == "application/json";
    let shown = if shown {
        &bytes[..bytes.len().min(SHOWN)]
    } else {
        b""
    };
    Failed {
        status,
        error: std::str::from_utf8(&bytes).ok().and_then(error_in),
        body: String::from_utf8_lossy(shown).into(),
    }
}

/// The error that a message of the protocol consists of. Its id does not matter: it is the answer to what was posted.
fn error_in(text: &str) -> Option<RpcError> {
    // The body may be anything, so it is checked before its members are looked at.
    let mut members = Members::new(text).ok()?;
    let (mut error, mut speaks) = (None, false);
    while let Some((key, value)) = members.next().ok()? {
        match &*key {
            "error" => error = Some(value),
            "jsonrpc" => speaks = value == "\"2.0\"",
            _ => {}
        }
    }
    let error = error.filter(|_| speaks)?;
    serde_json::from_str(error).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_of_the_protocol_are_errors_of_it() {
        let code = |text| error_in(text).map(|error| error.code);
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}"#,
                Some(-32022),
            ),
            (
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"},"id":null}"#,
                Some(-32600),
            ),
            (r#"{"error":{"code":404,"message":"Not Found"}}"#, None),
            (
                r#"{"jsonrpc":"2.0","error":{"code":"x","message":"no"}}"#,
                None,
            ),
            (r#"{"jsonrpc":"2.0","error":"no"}"#, None),
            (
                r#"{"jsonrpc":"2.0","error":{"code":1,"message":"no"}} x"#,
                None,
            ),
            ("<html>", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(code(text), expected, "CLI-ERA-08: {text}");
        }
    }
}
