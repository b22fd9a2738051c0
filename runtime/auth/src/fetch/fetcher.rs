//! Requests for documents and tokens.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Uri};
use tokio::time::timeout_at;
use treenail_http_client::response::location;
use treenail_http_client::url::same_origin;
use treenail_schema::internal::quoted;

use super::budget::Budget;
use super::network::Network;
use super::policy::FetchPolicy;
use super::response::FetchResponse;
use crate::{AuthError, Secret};

/// Maximum number of redirects of one request for a document.
const MAX_REDIRECTS: u32 = 3;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// A future of a [`Transport`].
pub(crate) type TransportFuture<'a> =
    Pin<Box<dyn Future<Output = Result<FetchResponse, AuthError>> + Send + 'a>>;

/// Sends the requests of a [`Fetcher`].
pub(crate) trait Transport: Send + Sync + 'static {
    /// Sends a request, and reads at most 256 KiB of the body of its response. Follows no redirect.
    fn send(&self, request: Request<Bytes>) -> TransportFuture<'_>;
}

/// Sends requests to servers that a peer has named, under a policy.
///
/// Clones share their connections. Requests carry no cookies, and responses must not be compressed.
#[derive(Clone)]
pub(crate) struct Fetcher {
    transport: Arc<dyn Transport>,
    policy: FetchPolicy,
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Fetcher")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl Fetcher {
    pub(crate) fn new(policy: FetchPolicy) -> Self {
        let transport = Arc::new(Network::new(policy.clone()));
        Self::with_transport(policy, transport)
    }

    /// Sends over a transport that applies the policy of addresses itself, for example one without network.
    pub(crate) fn with_transport(policy: FetchPolicy, transport: Arc<dyn Transport>) -> Self {
        Self { transport, policy }
    }

    /// Returns the policy.
    pub(crate) fn policy(&self) -> &FetchPolicy {
        &self.policy
    }

    /// Requests a JSON document. Follows at most three redirects within the origin.
    ///
    /// # Errors
    ///
    /// - [`AuthError::Forbidden`] for a URL or an address that the policy does not allow.
    /// - [`AuthError::Unavailable`] if the server does not answer, or a bound of `budget` is exceeded.
    /// - [`AuthError::Document`] if the response is larger than 256 KiB or compressed.
    ///
    /// A response with any other status is returned, and so is a redirect that is not followed.
    pub(crate) async fn get(
        &self,
        url: &str,
        headers: &HeaderMap,
        budget: &Budget,
    ) -> Result<FetchResponse, AuthError> {
        let mut url = self.policy.check_url(url)?;
        let mut followed = 0;
        loop {
            let mut request = Request::new(Bytes::new());
            *request.uri_mut() = url.clone();
            request.headers_mut().clone_from(headers);
            request.headers_mut().insert(ACCEPT, JSON);
            let response = self.send(request, budget).await?;
            match redirect_target(&url, &response) {
                Some(target) if followed < MAX_REDIRECTS => {
                    url = self.policy.check_url(&target)?;
                    followed += 1;
                }
                _ => return Ok(response),
            }
        }
    }

    /// Posts a form, which is encoded already, to an endpoint such as that for tokens. `headers` may contain credentials.
    /// Follows no redirect.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), with a time of 10 s. A redirect is [`AuthError::Forbidden`].
    pub(crate) async fn post_form(
        &self,
        url: &str,
        form: &Secret,
        headers: HeaderMap,
    ) -> Result<FetchResponse, AuthError> {
        let form = Bytes::copy_from_slice(form.expose().as_bytes());
        self.post(url, (FORM, form), headers).await
    }

    /// As [`post_form`](Self::post_form), for a JSON text.
    pub(crate) async fn post_json(
        &self,
        url: &str,
        json: &str,
        headers: HeaderMap,
    ) -> Result<FetchResponse, AuthError> {
        let json = Bytes::copy_from_slice(json.as_bytes());
        self.post(url, (JSON, json), headers).await
    }

    async fn post(
        &self,
        url: &str,
        (media_type, body): (HeaderValue, Bytes),
        mut headers: HeaderMap,
    ) -> Result<FetchResponse, AuthError> {
        let url = self.policy.check_url(url)?;
        headers.insert(ACCEPT, JSON);
        headers.insert(CONTENT_TYPE, media_type);
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = url.clone();
        *request.headers_mut() = headers;
        let response = self.send(request, &Budget::request()).await?;
        if response.status.is_redirection() {
            let host = quoted(url.host().unwrap_or_default());
            let reason = format!("{host} redirects a request with credentials");
            return Err(AuthError::Forbidden(reason.into()));
        }
        Ok(response)
    }

    async fn send(
        &self,
        request: Request<Bytes>,
        budget: &Budget,
    ) -> Result<FetchResponse, AuthError> {
        let end = budget.take()?;
        let host = request.uri().host().map(quoted).unwrap_or_default();
        timeout_at(end, self.transport.send(request))
            .await
            .map_err(|_| AuthError::Unavailable(format!("{host} did not answer in time").into()))?
    }
}

/// Returns the target of a redirect within the origin.
fn redirect_target(url: &Uri, response: &FetchResponse) -> Option<String> {
    if !matches!(response.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let target = same_origin(url, location(&response.headers)?).ok()?;
    Some(target.to_string())
}
