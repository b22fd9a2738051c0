//! The ways to send something, and the redirects that are followed.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming as Body;
use tokio::time::timeout;

use crate::client::ClientError;
use crate::client::fetch::head::location;
use crate::client::fetch::url::same_origin;
use crate::client::http::headers::LAST_EVENT;
use crate::client::http::legacy::Standing;
use crate::client::http::reply::Reply;
use crate::client::http::shared::Shared;

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Headers and body of a request, without those that all requests have.
pub(super) struct Parts {
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// Bound of the wait for a response.
#[derive(Clone, Copy, Debug)]
enum Patience {
    /// The caller has a timeout.
    OfCaller,
    /// A stream may take any time to begin, but so many informational responses before it are enough.
    Endless(u32),
}

impl Shared {
    /// Posts a message. It is composed again for each redirect that is followed, so that nothing is kept for those, which
    /// are rare.
    pub(super) async fn post(
        &self,
        to: &Uri,
        compose: impl Fn() -> Result<Parts, ClientError>,
    ) -> Result<Response<Body>, ClientError> {
        let request = |to: &Uri| {
            let parts = compose()?;
            let mut request = self.compose(Method::POST, to, parts.headers, BOTH);
            request.headers_mut().insert(CONTENT_TYPE, JSON);
            *request.body_mut() = parts.body.into();
            Ok(request)
        };
        self.send(to, request, Patience::OfCaller).await
    }

    /// Posts a message of the legacy era that has no answer.
    pub(super) async fn deliver(
        &self,
        standing: &Standing,
        body: Vec<u8>,
    ) -> Result<(), ClientError> {
        let to = standing.target(&self.url)?;
        let response = self.post(to, || {
            let (headers, body) = (standing.headers(), body.clone());
            Ok(Parts { headers, body })
        });
        match Reply::accepted(response.await?).await {
            Ok(()) => Ok(()),
            Err(failed) => Err(self.failure(failed, standing)),
        }
    }

    /// Asks for a stream, or for the rest of one.
    pub(super) async fn get(
        &self,
        standing: &Standing,
        after: Option<&HeaderValue>,
    ) -> Result<Reply, ClientError> {
        let request = |to: &Uri| {
            let mut headers = standing.headers();
            if let Some(after) = after {
                headers.insert(LAST_EVENT, after.clone());
            }
            Ok(self.compose(Method::GET, to, headers, EVENTS))
        };
        let most = self.limits.http.informational_responses;
        let response = self.send(&self.url, request, Patience::Endless(most));
        Reply::read(response.await?, &self.limits).await
    }

    /// Tells the server that a session has ended; its answer does not matter.
    pub(super) async fn delete(&self, standing: &Standing) {
        let request = |to: &Uri| Ok(self.compose(Method::DELETE, to, standing.headers(), BOTH));
        let deleted = self.send(&self.url, request, Patience::OfCaller);
        if timeout(self.limits.shutdown_timeout, deleted)
            .await
            .is_err()
        {
            tracing::debug!("the server did not say that the session has ended");
        }
    }

    async fn send(
        &self,
        to: &Uri,
        request: impl Fn(&Uri) -> Result<Request<Bytes>, ClientError>,
        patience: Patience,
    ) -> Result<Response<Body>, ClientError> {
        let response = self.transmit(request(to)?, patience).await?;
        match self.redirect(to, &response) {
            None => Ok(response),
            // What is rare must not make every request large.
            Some(target) => Box::pin(self.follow(target, request, patience)).await,
        }
    }

    /// Sends a request to the target of a redirect, and to those that follow, as often as the limits allow. The last
    /// response may be a redirect too.
    async fn follow(
        &self,
        mut to: Uri,
        request: impl Fn(&Uri) -> Result<Request<Bytes>, ClientError>,
        patience: Patience,
    ) -> Result<Response<Body>, ClientError> {
        let mut followed = 1;
        loop {
            let response = self.transmit(request(&to)?, patience).await?;
            followed += 1;
            match self.redirect(&to, &response) {
                Some(target) if followed <= self.limits.http.redirects => to = target,
                _ => return Ok(response),
            }
        }
    }

    async fn transmit(
        &self,
        request: Request<Bytes>,
        patience: Patience,
    ) -> Result<Response<Body>, ClientError> {
        match patience {
            Patience::OfCaller => self.engine.send(request).await,
            Patience::Endless(most) => Box::pin(self.engine.send_patiently(request, most)).await,
        }
    }

    /// Target of a redirect that keeps the method and the origin; no other one is followed.
    fn redirect(&self, from: &Uri, response: &Response<Body>) -> Option<Uri> {
        const KEPT: [StatusCode; 2] = [
            StatusCode::TEMPORARY_REDIRECT,
            StatusCode::PERMANENT_REDIRECT,
        ];
        if !KEPT.contains(&response.status()) || self.limits.http.redirects == 0 {
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
