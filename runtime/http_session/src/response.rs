//! Classification of responses by status and media type.

use std::sync::Arc;
use std::time::Duration;

use http::header::WWW_AUTHENTICATE;
use http::response::Parts;
use http::{Response, StatusCode, Uri};
use http_body::Body as _;
use treenail_http_client::HttpClientBody;
use treenail_http_client::body::{self, End};
use treenail_http_client::response::{describe_redirect, is_compressed, media_type, retry_after};
use treenail_runtime::RpcError;
use treenail_runtime::client::{Challenges, ClientError, ClientLimits, Unauthorized};
use treenail_runtime::internal::{answered_id, error_in, system_time};
use treenail_schema::internal::quoted;

/// Maximum size of the body of an error response in bytes: enough for a protocol message.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// Maximum size in bytes of a body that is read only so that the connection can be reused.
const MAX_DRAIN_BYTES: u64 = 4 * 1024;
/// Maximum delay of the header `Retry-After`; a longer one is shortened.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum number of bytes of a body that an error message shows.
const MAX_SHOWN_BYTES: usize = 512;

/// A response of the server.
#[derive(Debug)]
pub(crate) enum HttpResponse {
    Json(Vec<u8>),
    Events(HttpClientBody),
    /// Success without an answer.
    Accepted,
    Error(ErrorResponse),
}

/// A response with another status than success.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    /// The URL of the request, without its query.
    url: Arc<str>,
    pub(crate) status: StatusCode,
    /// The JSON-RPC error in the body, if there is one.
    pub(crate) rpc_error: Option<RpcError>,
    /// Id in the body.
    id: Option<i64>,
    challenges: Challenges,
    retry_after: Option<Duration>,
    /// The text that messages show.
    body: Arc<str>,
    /// The whole body, if it is neither compressed nor too long.
    whole: Option<Box<[u8]>>,
}

impl From<ErrorResponse> for ClientError {
    fn from(response: ErrorResponse) -> Self {
        // A challenge concerns the credentials of HTTP, even if the body is a JSON-RPC error. So does status 401.
        let is_refused = match response.status {
            StatusCode::UNAUTHORIZED => true,
            StatusCode::FORBIDDEN => {
                response.rpc_error.is_none() || !response.challenges.is_empty()
            }
            _ => false,
        };
        if is_refused {
            return Self::Unauthorized(Arc::new(Unauthorized::new(
                response.status.as_u16(),
                response.challenges,
                &response.body,
            )));
        }
        let body = match response.rpc_error {
            Some(error) if is_unavailable(response.status) => error.message.into(),
            Some(error) => return Self::Refused(error),
            None => response.body,
        };
        let (url, status) = (response.url, response.status.as_u16());
        Self::http(url, status, body, response.retry_after)
    }
}

impl HttpResponse {
    /// Classifies a response, and reads its body unless that is a stream.
    ///
    /// # Errors
    ///
    /// If a successful response has a body that the protocol does not allow.
    pub(crate) async fn read(
        response: Response<HttpClientBody>,
        limits: &ClientLimits,
    ) -> Result<Self, ClientError> {
        let (head, mut body) = response.into_parts();
        if !head.status.is_success() {
            return Ok(Self::Error(ErrorResponse::read(&head, &mut body).await));
        }
        if is_compressed(&head.headers) {
            let reason = "a response is compressed, which is not supported";
            return Err(ClientError::protocol(reason));
        }
        match media_type(&head.headers).as_deref() {
            Some("text/event-stream") => Ok(Self::Events(body)),
            Some("application/json") if head.status != StatusCode::ACCEPTED => {
                read_message(&mut body, limits.message_bytes)
                    .await
                    .map(Self::Json)
            }
            _ if matches!(head.status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) => {
                drain(body).await;
                Ok(Self::Accepted)
            }
            None if body.size_hint().upper() == Some(0) => Ok(Self::Accepted),
            other => {
                let other = quoted(other.unwrap_or_default());
                let reason =
                    format!("a response has the media type {other}, neither JSON nor events");
                Err(ClientError::protocol(reason))
            }
        }
    }

    /// Checks the status of a response whose body is not needed.
    pub(crate) async fn expect_success(
        response: Response<HttpClientBody>,
    ) -> Result<(), ErrorResponse> {
        let (head, mut body) = response.into_parts();
        if !head.status.is_success() {
            return Err(ErrorResponse::read(&head, &mut body).await);
        }
        drain(body).await;
        Ok(())
    }
}

impl ErrorResponse {
    /// Returns true for status 400 that is not an answer to the request `id`. The server may have refused its session then.
    pub(crate) fn may_refuse_session(&self, id: i64) -> bool {
        self.status == StatusCode::BAD_REQUEST && self.id != Some(id)
    }

    /// Returns true if both responses have the same status and the same body. One that was not read completely is never the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.status == other.status && self.whole.is_some() && self.whole == other.whole
    }

    async fn read(head: &Parts, body: &mut HttpClientBody) -> Self {
        let (status, headers) = (head.status, &head.headers);
        let url = shown_url(head.extensions.get());
        if status.is_redirection() {
            return Self {
                url,
                status,
                rpc_error: None,
                id: None,
                challenges: Challenges::default(),
                retry_after: None,
                body: describe_redirect(headers).into(),
                whole: None,
            };
        }
        let (bytes, is_whole) = if is_compressed(headers) {
            (Vec::new(), false)
        } else {
            let (bytes, end) = body::read(body, MAX_ERROR_BYTES).await;
            (bytes, matches!(end, End::Complete))
        };
        let kind = media_type(headers).unwrap_or_default();
        let is_text = kind.starts_with("text/") || kind == "application/json";
        let shown = if is_text {
            &bytes[..bytes.len().min(MAX_SHOWN_BYTES)]
        } else {
            b""
        };
        Self {
            url,
            status,
            challenges: Challenges::parse(headers.get_all(WWW_AUTHENTICATE)),
            retry_after: retry_after(headers, system_time()).map(|it| it.min(MAX_RETRY_AFTER)),
            // Its id is ignored: the message answers the request that was posted.
            rpc_error: error_in(&bytes),
            id: answered_id(&bytes),
            body: String::from_utf8_lossy(shown).into(),
            whole: is_whole.then(|| bytes.into()),
        }
    }
}

/// Returns true if the server was too busy to consider the request, or was not reached. Such a status says nothing about
/// the request, even if the body is a JSON-RPC error.
fn is_unavailable(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// URL of the request to a response, an extension of responses with an error status, and of those from another URL than that of the
/// session.
#[derive(Clone, Debug)]
pub(crate) struct RequestUrl(pub(super) Uri);

/// Returns a URL for messages: without user name and query, which may be secret.
fn shown_url(url: Option<&RequestUrl>) -> Arc<str> {
    let Some(RequestUrl(url)) = url else {
        return "the server".into();
    };
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let address = authority.rsplit_once('@');
    let address = address.map_or(authority, |(_, address)| address);
    let scheme = url.scheme_str().unwrap_or("http");
    format!("{scheme}://{address}{}", url.path()).into()
}

async fn read_message(body: &mut HttpClientBody, max_bytes: usize) -> Result<Vec<u8>, ClientError> {
    match body::read(body, max_bytes).await {
        (bytes, End::Complete) => Ok(bytes),
        (_, End::TooLong) => Err(ClientError::TooLong(max_bytes)),
        (_, End::Broken(reason)) => {
            let reason = format!("a response has broken off: {reason}");
            Err(ClientError::closed(reason))
        }
    }
}

/// Reads a short body of known length that is not needed, so that the connection can be reused.
async fn drain(mut body: HttpClientBody) {
    let length = body.size_hint().upper();
    if length.is_some_and(|length| length <= MAX_DRAIN_BYTES) {
        body::read(&mut body, MAX_ERROR_BYTES).await;
    }
}
