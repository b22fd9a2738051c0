//! Faults that a test switches on.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

/// Endpoint of an authorization server.
#[cfg(feature = "test-authorization")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// The metadata of RFC 8414, at `/.well-known/oauth-authorization-server`.
    OAuthMetadata,
    /// The metadata of OpenID Connect Discovery, at `/.well-known/openid-configuration` before or after the path.
    OpenIdMetadata,
    /// The public keys, as a JWK set.
    Jwks,
    /// The authorization endpoint, which answers with a redirect.
    Authorization,
    /// The endpoint of pushed authorization requests (RFC 9126).
    PushedAuthorization,
    /// The token endpoint.
    Token,
    /// The endpoint of dynamic client registration (RFC 7591).
    Registration,
    /// The introspection endpoint (RFC 7662).
    Introspection,
    /// The revocation endpoint (RFC 7009).
    Revocation,
    /// Any other path, which answers with status 404.
    Unknown,
}

/// Deviation of an authorization server from the specifications.
///
/// [`TestAuthorizationServer::inject`](crate::testing::TestAuthorizationServer::inject) switches it on.
#[cfg(feature = "test-authorization")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Sets a member of the JSON document that the endpoint answers with. A metadata document that lists only `plain` is
    /// `Fault::Replace(Endpoint::OAuthMetadata, "code_challenge_methods_supported", json!(["plain"]))`.
    Replace(Endpoint, &'static str, Value),
    /// Removes a member of the JSON document that the endpoint answers with.
    Omit(Endpoint, &'static str),
    /// Sets a parameter of the redirect from the authorization endpoint, such as `iss` or `state`.
    RedirectParameter(&'static str, String),
    /// Removes a parameter of the redirect from the authorization endpoint.
    OmitRedirectParameter(&'static str),
    /// Adds a second occurrence of a parameter to the redirect from the authorization endpoint.
    DuplicateRedirectParameter(&'static str, String),
    /// Sets a header of the response.
    Header(Endpoint, HeaderName, HeaderValue),
    /// Answers with this status and an empty body. The request has no effect.
    Status(Endpoint, StatusCode),
    /// Answers with status 400 and this error code of OAuth. The request has no effect.
    Error(Endpoint, &'static str),
    /// Answers with this status and this error code of OAuth. The request has no effect.
    ErrorStatus(Endpoint, StatusCode, &'static str),
    /// Answers with status 302 and this `Location`. The request has no effect.
    Redirect(Endpoint, String),
    /// Answers with status 200 and this body of the type `application/json`. The request has no effect.
    Body(Endpoint, Bytes),
    /// Answers with a JSON document of this many bytes, without a `Content-Length`. The request has no effect.
    Huge(Endpoint, u64),
    /// Answers with one byte a second, without end. The request has no effect.
    Slow(Endpoint),
    /// Accepts the request and never answers. The request has no effect.
    Silent(Endpoint),
    /// Executes the request, and closes the connection in place of the answer.
    LoseAnswer(Endpoint),
}

impl Fault {
    /// Returns the endpoint that it affects.
    pub(super) fn endpoint(&self) -> Endpoint {
        match self {
            Self::Replace(endpoint, ..)
            | Self::Omit(endpoint, _)
            | Self::Header(endpoint, ..)
            | Self::Status(endpoint, _)
            | Self::Error(endpoint, _)
            | Self::ErrorStatus(endpoint, ..)
            | Self::Redirect(endpoint, _)
            | Self::Body(endpoint, _)
            | Self::Huge(endpoint, _)
            | Self::Slow(endpoint)
            | Self::Silent(endpoint)
            | Self::LoseAnswer(endpoint) => *endpoint,
            Self::RedirectParameter(..)
            | Self::OmitRedirectParameter(_)
            | Self::DuplicateRedirectParameter(..) => Endpoint::Authorization,
        }
    }
}

/// Faults that are switched on, with the number of requests that each still affects.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<(Fault, Option<usize>)>);

impl Faults {
    pub(super) fn push(&mut self, fault: Fault, times: Option<usize>) {
        self.0.push((fault, times));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the faults for a request at `endpoint`, and counts it.
    pub(super) fn take(&mut self, endpoint: Endpoint) -> Vec<Fault> {
        let mut taken = Vec::new();
        for (fault, times) in &mut self.0 {
            if fault.endpoint() != endpoint || *times == Some(0) {
                continue;
            }
            if let Some(times) = times {
                *times -= 1;
            }
            taken.push(fault.clone());
        }
        self.0.retain(|(_, times)| *times != Some(0));
        taken
    }
}
