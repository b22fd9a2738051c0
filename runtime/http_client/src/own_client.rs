//! Requests through an HTTP client of the user.

use std::error::Error as StdError;
use std::sync::Arc;

use bytes::Bytes;
use http::uri::Authority;
use http::{HeaderMap, Request, Response};
use hyper_util::client::legacy::Error as HyperError;

use crate::client::{HttpClient, NotSent};
use crate::client_body::HttpClientBody;
use crate::error::HttpError;
use crate::failure::{causes, describe, is_unprocessed};
use crate::url::without_user;

/// HTTP client of the user, with the limits that it may not know.
#[derive(Clone)]
pub(crate) struct OwnClient {
    pub(crate) client: Arc<dyn HttpClient>,
    /// Maximum size of the names and values of the headers of a response.
    pub(crate) max_header_bytes: usize,
}

impl OwnClient {
    /// Sends a request, and once more if the client guarantees that it was not sent.
    pub(crate) async fn send(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<HttpClientBody>, HttpError> {
        let server = request.uri().authority().cloned();
        let again = request.clone();
        let mut sent = self.client.send(request).await;
        if sent.as_ref().is_err_and(|error| is_not_sent(&**error)) {
            sent = self.client.send(again).await;
        }
        let response = sent.map_err(|error| failure(&*error, server.as_ref()))?;
        let header_bytes = size(response.headers());
        if header_bytes > self.max_header_bytes {
            let limit = self.max_header_bytes;
            let reason =
                format!("the headers of a response have {header_bytes} bytes, more than {limit}");
            return Err(HttpError::protocol(reason));
        }
        Ok(response)
    }
}

fn size(headers: &HeaderMap) -> usize {
    let sizes = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len());
    sizes.sum()
}

/// Converts an error of the client. Without a guarantee, the server may have processed the request.
fn failure(error: &(dyn StdError + 'static), server: Option<&Authority>) -> HttpError {
    let server = server.map_or("", without_user);
    let reason = format!(
        "the HTTP client of this program failed to send a request to {server}: {}",
        describe(error)
    );
    let is_connect =
        |cause: &(dyn StdError + 'static)| cause.downcast_ref().is_some_and(HyperError::is_connect);
    if is_not_sent(error) || causes(error).any(is_connect) {
        HttpError::unreachable(reason)
    } else {
        HttpError::closed(reason)
    }
}

/// Returns true if the client, or the server over HTTP/2, guarantees that the request was not processed.
fn is_not_sent(error: &(dyn StdError + 'static)) -> bool {
    causes(error)
        .any(|cause| cause.is::<NotSent>() || cause.downcast_ref().is_some_and(is_unprocessed))
}
