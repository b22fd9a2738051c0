//! Requests with credentials that may change: redirects, and retries after status 401 and 403.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Method, Request, Response, Uri};
use treenail_http_client::HttpClientBody as Body;
use treenail_http_client::body::release;
use treenail_http_client::response::is_unauthorized;
use treenail_runtime::client::{
    ClientError, HttpAttempt, HttpAuthorization, Refusal, SessionNotification, SessionRequest,
};
use treenail_runtime::internal::{Members, as_string, is_in_background, timeout::paused};
use treenail_schema::Revision;

use crate::headers::name_in;
use crate::sender::{ResponseBound, Sender};

/// Maximum number of times that a refused request is sent again.
const MAX_RETRIES: u32 = 8;

/// Message that a request carries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Subject<'a> {
    /// `None` for requests without a message, and for answers.
    pub(crate) method: Option<&'a str>,
    pub(crate) params: &'a str,
    /// The name, if it is not that of the method.
    pub(crate) name: Option<&'a str>,
    pub(crate) revision: Option<Revision>,
    /// Set while the server may have the message: during an attempt to send it, and after the last one.
    pub(crate) in_flight: Option<&'a AtomicBool>,
}

impl<'a> From<&'a SessionRequest> for Subject<'a> {
    fn from(request: &'a SessionRequest) -> Self {
        Self {
            method: Some(&request.method),
            params: &request.params,
            name: request.name_header.as_deref(),
            revision: request.revision,
            in_flight: None,
        }
    }
}

impl<'a> From<&'a SessionNotification> for Subject<'a> {
    fn from(notification: &'a SessionNotification) -> Self {
        Self {
            method: Some(&notification.method),
            params: &notification.params,
            name: None,
            revision: notification.revision,
            in_flight: None,
        }
    }
}

impl Subject<'_> {
    /// Returns the name of the tool, prompt, resource or task.
    fn name(&self) -> Option<String> {
        let name = self.name.map(str::to_owned);
        name.or_else(|| name_in(self.method?, self.params))
    }

    /// Returns the revision of the message, or the one that `initialize` proposes.
    fn revision(&self) -> Option<Revision> {
        let proposed = || {
            let version = member(self.params, "protocolVersion")?;
            version.parse().ok()
        };
        let is_proposal = self.method == Some("initialize");
        self.revision
            .or_else(|| is_proposal.then(proposed).flatten())
    }

    /// Returns false for the cancellation of a request, the end of a session, and requests in the background.
    fn may_ask_user(&self, http_method: &Method) -> bool {
        let is_worth_it =
            *http_method != Method::DELETE && self.method != Some("notifications/cancelled");
        is_worth_it && !is_in_background()
    }

    pub(crate) fn set_in_flight(&self, in_flight: bool) {
        if let Some(flag) = self.in_flight {
            flag.store(in_flight, Ordering::Relaxed);
        }
    }
}

fn member<'a>(params: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let mut members = Members::new(params).ok()?;
    while let Some((key, value)) = members.next().ok()? {
        if key == name {
            return as_string(value);
        }
    }
    None
}

impl Sender {
    /// Sends a request with the credentials of `authorization`, follows redirects, and sends it again while other credentials
    /// can be obtained.
    pub(crate) async fn send_authorized(
        &self,
        authorization: &Arc<dyn HttpAuthorization>,
        to: &Uri,
        request: impl Fn(&Uri) -> Result<Request<Bytes>, ClientError>,
        (bound, subject): (ResponseBound, Subject<'_>),
    ) -> Result<Response<Body>, ClientError> {
        let name = subject.name();
        let (mut url, mut state) = (to.clone(), None);
        let (mut previous, mut redirects, mut peer) = (0, 0, None);
        loop {
            let mut request = request(&url)?;
            let http_method = request.method().clone();
            let mut attempt = HttpAttempt::new(&http_method, &self.url, &url);
            attempt.peer = peer;
            attempt.revision = subject.revision();
            attempt.only_revision = self.only_revision;
            attempt.operation = subject.method.map(|method| (method, name.as_deref()));
            attempt.may_ask_user = subject.may_ask_user(&http_method);
            (attempt.previous, attempt.state) = (previous, state);
            paused(authorization.authorize(&mut attempt, request.headers_mut())).await?;
            if let Some(value) = request.headers_mut().get_mut(AUTHORIZATION) {
                value.set_sensitive(true);
            }
            subject.set_in_flight(true);
            let response = self.transmit(request, bound).await?;
            peer = self.pool.peer_address(&response).or(peer);
            attempt.peer = peer;
            authorization.observe(&attempt, response.status(), response.headers());
            let target = self.redirect_target(&url, &response);
            if let Some(target) = target.filter(|target| covers(to, target)) {
                if redirects < self.limits.http.redirects {
                    redirects += 1;
                    (state, url) = (attempt.state, target);
                    continue;
                }
            }
            let (status, headers) = (response.status(), response.headers());
            if !is_unauthorized(status) || previous == MAX_RETRIES {
                return Ok(response);
            }
            subject.set_in_flight(false);
            match paused(authorization.refused(&mut attempt, status, headers)).await? {
                Refusal::Retry => release(response.into_body()),
                _ => return Ok(response),
            }
            (state, url) = (attempt.state, to.clone());
            (previous, redirects) = (previous + 1, 0);
        }
    }
}

/// Returns true if credentials for `url` may be sent to `target`, of the same origin: to the same path, or one below it.
fn covers(url: &Uri, target: &Uri) -> bool {
    let (base, path) = (url.path(), target.path());
    let Some(below) = path.strip_prefix(base) else {
        return false;
    };
    // Servers may decode dots and slashes before they interpret them.
    let encoded = ["%2e", "%2f", "%5c"];
    let lower = below.to_ascii_lowercase();
    let is_segment = below.is_empty() || below.starts_with('/') || base.ends_with('/');
    is_segment && !encoded.iter().any(|code| lower.contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_follow_a_redirect_below_their_path_only() {
        let cases = [
            ("/mcp", "/mcp", true),
            ("/mcp", "/mcp/", true),
            ("/mcp", "/mcp/v1?a=b", true),
            ("/mcp/", "/mcp/v1", true),
            ("/", "/mcp", true),
            ("/mcp", "/mcpevil", false),
            ("/mcp", "/other", false),
            ("/mcp", "/", false),
            ("/mcp", "/mcp/%2e%2E/other", false),
            ("/mcp", "/mcp/..%2Fother", false),
            ("/mcp", "/mcp/%5c../other", false),
        ];
        for (base, target, expected) in cases {
            let url = |path| format!("https://example.com{path}").parse().unwrap();
            let got = covers(&url(base), &url(target));
            assert_eq!(got, expected, "AUTH-C-06: {base} {target}");
        }
    }

    #[test]
    fn the_revision_of_a_handshake_is_the_proposed_one() {
        let params = r#"{"capabilities":{},"protocolVersion":"2025-03-26"}"#;
        let request = SessionRequest::new(1, "initialize", params.to_owned());
        let revision = Subject::from(&request).revision();
        assert_eq!(revision, "2025-03-26".parse().ok(), "AUTH-C-34");
    }
}
