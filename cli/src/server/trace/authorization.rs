//! Credentials whose tokens are redacted in traces.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderMap, StatusCode, header};
use treenail::auth::OAuth;
use treenail::client::{AuthorizationFuture, HttpAttempt, HttpAuthorization, Refusal};
use treenail::schema::JsonObject;

use super::Redactor;

/// OAuth client that reports its tokens to a [`Redactor`]. A server may repeat them in its messages.
#[derive(Debug)]
pub(super) struct RedactedAuthorization {
    oauth: OAuth,
    redactor: Arc<Redactor>,
}

impl RedactedAuthorization {
    pub(super) fn new(oauth: OAuth, redactor: Arc<Redactor>) -> Self {
        Self { oauth, redactor }
    }
}

impl HttpAuthorization for RedactedAuthorization {
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        headers: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        Box::pin(async move {
            self.oauth.authorize(request, headers).await?;
            let values = headers.get_all(header::AUTHORIZATION).into_iter();
            for value in values.filter_map(|value| value.to_str().ok()) {
                self.redactor.add_credentials(value);
            }
            Ok(())
        })
    }

    fn observe(&self, request: &HttpAttempt<'_>, status: StatusCode, response: &HeaderMap) {
        self.oauth.observe(request, status, response);
    }

    fn refused<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        status: StatusCode,
        response: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal> {
        self.oauth.refused(request, status, response)
    }

    fn version(&self) -> u64 {
        self.oauth.version()
    }

    fn extensions(&self) -> BTreeMap<String, JsonObject> {
        self.oauth.extensions()
    }
}
