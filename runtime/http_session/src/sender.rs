//! HTTP requests to the server, and the redirects that are followed.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use tokio::time::timeout;
use treenail_http_client::HttpClientBody as Body;
use treenail_http_client::Pool;
use treenail_http_client::response::location;
use treenail_http_client::url::same_origin;
use treenail_runtime::client::{ClientError, ClientLimits, HttpAuthorization};
use treenail_schema::{JsonObject, Revision};

use crate::authorized::Subject;
use crate::from_http;
use crate::headers::LAST_EVENT;
use crate::response::{HttpResponse, RequestUrl};
use crate::session_state::SessionState;

const JSON_OR_EVENTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Headers and body of a request, without the headers that all requests have.
pub(crate) struct Parts {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Bound of the wait for a response.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResponseBound {
    /// The caller applies a timeout.
    CallerTimeout,
    /// A stream may open at any time, but at most this many informational responses may precede it.
    InformationalResponses(u32),
}

/// Sends the HTTP requests of one session.
pub(crate) struct Sender {
    pub(crate) url: Uri,
    /// The only revision that the client accepts.
    pub(crate) only_revision: Option<Revision>,
    /// Headers that the user has set.
    pub(crate) headers: HeaderMap,
    pub(crate) authorization: Option<Arc<dyn HttpAuthorization>>,
    pub(crate) pool: Pool,
    pub(crate) limits: ClientLimits,
}

impl Sender {
    /// Returns the extensions of the credentials.
    pub(crate) fn extensions(&self) -> BTreeMap<String, JsonObject> {
        let authorization = self.authorization.as_deref();
        authorization.map_or_else(BTreeMap::new, HttpAuthorization::extensions)
    }

    /// Posts a message. `compose` runs again for each redirect: redirects are rare, so a copy of every message would be
    /// wasted.
    pub(crate) async fn post(
        &self,
        to: &Uri,
        subject: Subject<'_>,
        compose: impl Fn() -> Result<Parts, ClientError>,
    ) -> Result<Response<Body>, ClientError> {
        let request = |to: &Uri| {
            let parts = compose()?;
            let mut request = self.compose(Method::POST, to, parts.headers, JSON_OR_EVENTS);
            request.headers_mut().insert(CONTENT_TYPE, JSON);
            *request.body_mut() = parts.body.into();
            Ok(request)
        };
        self.send(to, request, (ResponseBound::CallerTimeout, subject))
            .await
    }

    /// Posts a message of the legacy era.
    pub(crate) async fn post_legacy(
        &self,
        state: &SessionState,
        subject: Subject<'_>,
        body: &[u8],
    ) -> Result<Response<Body>, ClientError> {
        let compose = || {
            let (headers, body) = (state.headers(), body.to_vec());
            Ok(Parts { headers, body })
        };
        let target = state.target(&self.url, subject.method)?;
        self.post(target, subject, compose).await
    }

    /// Requests a stream, or the rest of one after the event `last_event_id`.
    pub(crate) async fn get(
        &self,
        state: &SessionState,
        last_event_id: Option<&HeaderValue>,
    ) -> Result<HttpResponse, ClientError> {
        let response = self.request_stream(state, last_event_id).await?;
        HttpResponse::read(response, &self.limits).await
    }

    /// As [`get`](Self::get), but returns the response as it is.
    pub(crate) async fn request_stream(
        &self,
        state: &SessionState,
        last_event_id: Option<&HeaderValue>,
    ) -> Result<Response<Body>, ClientError> {
        let request = |to: &Uri| {
            let mut headers = state.headers();
            if let Some(id) = last_event_id {
                headers.insert(LAST_EVENT, id.clone());
            }
            Ok(self.compose(Method::GET, to, headers, EVENTS))
        };
        let limit = self.limits.http.informational_responses;
        let bound = ResponseBound::InformationalResponses(limit);
        let options = (bound, state.subject());
        self.send(&self.url, request, options).await
    }

    /// Deletes the session on the server, whose response is ignored.
    pub(crate) async fn delete(&self, state: &SessionState) {
        let request =
            |to: &Uri| Ok(self.compose(Method::DELETE, to, state.headers(), JSON_OR_EVENTS));
        let options = (ResponseBound::CallerTimeout, state.subject());
        let deleted = self.send(&self.url, request, options);
        let limit = self.limits.shutdown_timeout;
        if timeout(limit, deleted).await.is_err() {
            tracing::debug!("the server did not confirm the end of the session");
        }
    }

    async fn send(
        &self,
        to: &Uri,
        request: impl Fn(&Uri) -> Result<Request<Bytes>, ClientError>,
        (bound, subject): (ResponseBound, Subject<'_>),
    ) -> Result<Response<Body>, ClientError> {
        if let Some(authorization) = &self.authorization {
            // Boxed: it must not enlarge the future of requests without it.
            let options = (bound, subject);
            return Box::pin(self.send_authorized(authorization, to, request, options)).await;
        }
        subject.set_in_flight(true);
        let response = self.transmit(request(to)?, bound).await?;
        match self.redirect_target(to, &response) {
            None => Ok(response),
            // Boxed: redirects are rare and must not enlarge the future of every request.
            Some(target) => Box::pin(self.follow_redirects(target, request, bound)).await,
        }
    }

    /// Follows redirects up to the limit. The last response may still be a redirect.
    async fn follow_redirects(
        &self,
        mut to: Uri,
        request: impl Fn(&Uri) -> Result<Request<Bytes>, ClientError>,
        bound: ResponseBound,
    ) -> Result<Response<Body>, ClientError> {
        let mut followed = 1;
        loop {
            let response = self.transmit(request(&to)?, bound).await?;
            followed += 1;
            match self.redirect_target(&to, &response) {
                Some(target) if followed <= self.limits.http.redirects => to = target,
                _ => return Ok(response),
            }
        }
    }

    pub(crate) async fn transmit(
        &self,
        request: Request<Bytes>,
        bound: ResponseBound,
    ) -> Result<Response<Body>, ClientError> {
        let url = request.uri().clone();
        let sent = match bound {
            ResponseBound::CallerTimeout => self.pool.send(request).await,
            ResponseBound::InformationalResponses(limit) => {
                Box::pin(self.pool.send_without_timeout(request, limit)).await
            }
        };
        let mut response = sent.map_err(from_http)?;
        if !response.status().is_success() || url != self.url {
            response.extensions_mut().insert(RequestUrl(url));
        }
        Ok(response)
    }

    /// Returns the target of a redirect that preserves the method and the origin. Other redirects are not followed.
    pub(crate) fn redirect_target(&self, from: &Uri, response: &Response<Body>) -> Option<Uri> {
        const METHOD_PRESERVING: [StatusCode; 2] = [
            StatusCode::TEMPORARY_REDIRECT,
            StatusCode::PERMANENT_REDIRECT,
        ];
        if !METHOD_PRESERVING.contains(&response.status()) || self.limits.http.redirects == 0 {
            return None;
        }
        same_origin(from, location(response.headers())?).ok()
    }

    fn compose(
        &self,
        method: Method,
        to: &Uri,
        headers: HeaderMap,
        accept: HeaderValue,
    ) -> Request<Bytes> {
        let mut request = Request::new(Bytes::new());
        *request.method_mut() = method;
        *request.uri_mut() = to.clone();
        request.headers_mut().clone_from(&self.headers);
        request.headers_mut().extend(headers);
        request.headers_mut().insert(ACCEPT, accept);
        request
    }
}
