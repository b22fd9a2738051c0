//! Authorization request: its URL, and the record of its flow.

use std::fmt;
use std::sync::Arc;

use http::Uri;
use ring::digest::{SHA256, digest};

use super::response::{Parameters, same_place};
use crate::client::token::form::Form;
use crate::client::urls::check_browser_url;
use crate::{AuthError, Scopes, Secret};

/// Record of one flow, complete before the user sees its URL.
#[derive(Debug)]
pub(crate) struct FlowRecord {
    /// The validated issuer.
    pub(crate) issuer: String,
    /// The metadata promise that each response contains `iss`.
    pub(crate) requires_issuer: bool,
    pub(crate) verifier: Secret,
    pub(crate) state: Secret,
    pub(crate) redirect_uri: String,
    /// `resource`, byte for byte; `None` in legacy mode.
    pub(crate) resource: Option<String>,
    pub(crate) scopes: Scopes,
    pub(crate) client_id: String,
}

/// Authorization that the user is asked for, in one flow.
///
/// `Debug` shows the hosts only: the URL contains the state of the flow.
#[derive(Clone)]
#[cfg(feature = "oauth")]
pub struct AuthorizationRequest(Arc<Inner>);

struct Inner {
    url: String,
    server: String,
    authorization_server: String,
    record: Arc<FlowRecord>,
}

impl AuthorizationRequest {
    pub(super) fn new(
        url: String,
        server: &Uri,
        record: Arc<FlowRecord>,
    ) -> Result<Self, AuthError> {
        let parsed = check_browser_url(&url)?;
        let authority = |uri: &Uri| uri.authority().map(ToString::to_string).unwrap_or_default();
        Ok(Self(Arc::new(Inner {
            server: authority(server),
            authorization_server: authority(&parsed),
            url,
            record,
        })))
    }

    /// Returns the URL that the user opens: `https`, or `http` on this computer.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Returns the host and port of the MCP server that will receive the token.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the host and port at which the user signs in. Show it if it differs from [`server`](Self::server).
    pub fn authorization_server(&self) -> &str {
        &self.0.authorization_server
    }

    /// Returns the redirect URI of the flow.
    pub fn redirect_uri(&self) -> &str {
        &self.0.record.redirect_uri
    }

    /// Returns the scopes that are asked for. Empty if the authorization server decides.
    pub fn scopes(&self) -> &Scopes {
        &self.0.record.scopes
    }

    /// Returns true if this URL is the redirect of this flow: its place is that of the redirect URI, and its state fits.
    ///
    /// A user agent drops other URLs and waits on, since any web page can request the address of a listener.
    pub fn accepts(&self, redirect: &str) -> bool {
        let record = &self.0.record;
        let Some(query) = same_place(redirect, &record.redirect_uri) else {
            return false;
        };
        let parameters = Parameters::read(query);
        let mut states = parameters.values("state");
        states.any(|state| is_equal(state, record.state.expose()))
    }
}

impl fmt::Debug for AuthorizationRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AuthorizationRequest")
            .field("server", &self.0.server)
            .field("authorization_server", &self.0.authorization_server)
            .field("scopes", self.scopes())
            .finish_non_exhaustive()
    }
}

/// Compares texts. The time reveals nothing about a secret, because digests are compared.
pub(super) fn is_equal(left: &str, right: &str) -> bool {
    let digest = |text: &str| digest(&SHA256, text.as_bytes());
    digest(left).as_ref() == digest(right).as_ref()
}

/// Returns the parameters of the request of a flow.
pub(super) fn parameters(record: &FlowRecord, challenge: &str) -> Form {
    let scopes = record.scopes.to_string();
    Form::new()
        .with("response_type", "code")
        .with("client_id", &record.client_id)
        .with("redirect_uri", &record.redirect_uri)
        .with("state", record.state.expose())
        .with("code_challenge", challenge)
        .with("code_challenge_method", "S256")
        .with_some("resource", record.resource.as_deref())
        .with_some("scope", Some(&*scopes).filter(|scopes| !scopes.is_empty()))
}

/// Appends parameters to the URL of an endpoint, whose own query is preserved.
pub(super) fn append(endpoint: &str, form: &Form) -> Result<String, AuthError> {
    let document = || format!("authorization endpoint {endpoint:?}");
    if endpoint.contains('#') {
        return Err(AuthError::document(document(), "it must have no fragment"));
    }
    let (_, query) = endpoint.split_once('?').unwrap_or_default();
    for (name, _) in form_urlencoded::parse(query.as_bytes()) {
        if form.iter().any(|(ours, _)| ours == name) {
            let reason = format!(
                "its query contains `{}` already, which belongs to the request",
                name.escape_default()
            );
            return Err(AuthError::document(document(), reason));
        }
    }
    let separator = match endpoint.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    Ok(format!("{endpoint}{separator}{}", form.encode().expose()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn record() -> FlowRecord {
        FlowRecord {
            issuer: "https://auth.example.com".into(),
            requires_issuer: false,
            verifier: "verifier".into(),
            state: "state-of-this-flow".into(),
            redirect_uri: "http://127.0.0.1:4000/callback".into(),
            resource: Some("https://example.com/mcp".into()),
            scopes: "b a".parse().unwrap(),
            client_id: "planner".into(),
        }
    }

    fn request() -> AuthorizationRequest {
        let url = append(
            "https://auth.example.com/authorize",
            &parameters(&record(), "c"),
        );
        let server = Uri::from_static("https://example.com/mcp");
        AuthorizationRequest::new(url.unwrap(), &server, Arc::new(record())).unwrap()
    }

    #[test]
    fn the_query_of_the_endpoint_is_preserved() {
        let form = parameters(&record(), "challenge");
        let url = append("https://auth.example.com/authorize?tenant=1", &form).unwrap();
        assert_eq!(
            url,
            "https://auth.example.com/authorize?tenant=1&response_type=code&client_id=planner\
             &redirect_uri=http%3A%2F%2F127.0.0.1%3A4000%2Fcallback&state=state-of-this-flow\
             &code_challenge=challenge&code_challenge_method=S256\
             &resource=https%3A%2F%2Fexample.com%2Fmcp&scope=a+b"
        );
    }

    #[test]
    fn an_endpoint_with_a_parameter_of_the_request_is_refused() {
        let form = parameters(&record(), "challenge");
        for query in ["state=x", "a=1&client_id=evil", "code%5Fchallenge=x"] {
            let endpoint = format!("https://auth.example.com/authorize?{query}");
            assert!(append(&endpoint, &form).is_err(), "{query}");
        }
        assert!(append("https://auth.example.com/authorize#x", &form).is_err());
    }

    #[test]
    fn only_the_redirect_of_the_flow_is_accepted() {
        let request = request();
        let base = "http://127.0.0.1:4000/callback";
        assert!(request.accepts(&format!("{base}?code=x&state=state-of-this-flow")));
        for redirect in [
            format!("{base}?code=x"),
            format!("{base}?code=x&state=state-of-another"),
            "http://127.0.0.1:4000/other?code=x&state=state-of-this-flow".into(),
            "http://127.0.0.1:4001/callback?code=x&state=state-of-this-flow".into(),
            "https://127.0.0.1:4000/callback?code=x&state=state-of-this-flow".into(),
            "code".into(),
        ] {
            assert!(!request.accepts(&redirect), "{redirect}");
        }
    }

    #[test]
    fn debug_hides_the_state() {
        let text = format!("{:?} {:?}", request(), record());
        assert!(!text.contains("state-of-this-flow"), "{text}");
    }
}
