//! Errors of HTTP clients as errors of requests.

use std::error::Error as StdError;
use std::fmt;

use h2::Reason;
use http::uri::Authority;
use hyper_util::client::legacy::Error;
use treenail_schema::internal::shortened;

use crate::error::{BoxError, HttpError};
use crate::guard::NotAllowed;
use crate::route::Via;
use crate::tls;
use crate::url::without_user;

/// Maximum number of causes of an error that are searched and shown.
const MAX_CAUSES: usize = 16;

/// Failure of the proxy, before it has opened a connection to the server.
#[derive(Debug)]
pub(crate) struct ProxyFailed(pub(crate) BoxError);

impl fmt::Display for ProxyFailed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the proxy failed")
    }
}

impl StdError for ProxyFailed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.0)
    }
}

/// Path of a request.
pub(crate) struct RequestPath<'a> {
    pub(crate) server: Option<&'a Authority>,
    pub(crate) via: Option<&'a Via>,
    /// True without TLS.
    pub(crate) is_plain: bool,
}

impl fmt::Display for RequestPath<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = self.server.map_or("", without_user);
        write!(formatter, "the server at {server}")?;
        self.via
            .map_or(Ok(()), |via| write!(formatter, " (through {via})"))
    }
}

/// Converts an error with all its sources. None of them contains text from the server.
pub(crate) fn request_error(error: &Error, path: &RequestPath<'_>) -> HttpError {
    let (mut reason, mut kind): (_, fn(String) -> HttpError) = if error.is_connect() {
        (format!("no connection to {path}"), HttpError::unreachable)
    } else if is_unprocessed(error) {
        let reason = format!("{path} did not process the request");
        (reason, HttpError::unreachable)
    } else {
        (format!("{path} did not answer"), HttpError::closed)
    };
    let start = reason.clone();
    for cause in sources(error) {
        if let Some(NotAllowed(reason)) = cause.downcast_ref() {
            return HttpError::invalid(&**reason);
        }
        if let Some(error) = tls::find(cause) {
            let problem = tls::describe(&error);
            // The server has processed nothing.
            if tls::is_refusal(&error) {
                return HttpError::unreachable(format!("no connection to {path}: {problem}"));
            }
            return kind(format!("{start}: {problem}"));
        }
        reason = format!("{reason}: {cause}");
        if is_violation(cause) {
            kind = HttpError::protocol;
        } else if path.is_plain && is_invalid_http(cause) {
            reason.push_str("; use `https://` in the URL if it serves TLS");
        }
    }
    kind(reason)
}

/// Returns true if the server guarantees that it has not processed the request (RFC 9113, section 8.7).
pub(crate) fn is_unprocessed(error: &Error) -> bool {
    let mut errors = sources(error).filter_map(|cause| cause.downcast_ref::<h2::Error>());
    errors.any(|error| match error.reason() {
        Some(Reason::NO_ERROR) => error.is_remote() && error.is_go_away(),
        Some(Reason::REFUSED_STREAM) => error.is_remote() && error.is_reset(),
        _ => false,
    })
}

/// Describes an error of any library and its causes, on one line of bounded length.
pub(crate) fn describe(error: &(dyn StdError + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error) {
        let cause = shortened(&cause.to_string());
        // Some errors repeat their cause.
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Returns an error and its causes, of which there are at most as many as are searched and shown.
pub(crate) fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| cause(error)).take(MAX_CAUSES)
}

/// Returns the cause of an error. I/O errors do not name the error that they contain as their source.
fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    let contained = error.downcast_ref().and_then(std::io::Error::get_ref);
    match contained {
        Some(contained) => Some(contained),
        None => error.source(),
    }
}

fn sources(error: &Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// Returns true if the headers of a response exceed a limit, or frames of HTTP/2 violate the protocol.
fn is_violation(cause: &(dyn StdError + 'static)) -> bool {
    // `hyper::Error::is_parse_too_large` exists in builds of servers only.
    let is_too_large = |error: &hyper::Error| error.to_string() == "message head is too large";
    cause.downcast_ref().is_some_and(is_too_large)
        || cause.downcast_ref().is_some_and(h2::Error::is_library)
}

/// Returns true if the peer has sent something that is not HTTP, for example an alert of TLS.
fn is_invalid_http(cause: &(dyn StdError + 'static)) -> bool {
    let error = cause.downcast_ref::<hyper::Error>();
    error.is_some_and(hyper::Error::is_parse)
}
