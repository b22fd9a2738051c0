//! Record of received requests.

use http::{HeaderMap, Method};

use super::fault::Endpoint;
use super::parameters::Parameters;

/// Request that a [`TestAuthorizationServer`](crate::testing::TestAuthorizationServer) has received.
#[cfg(feature = "test-authorization")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The HTTP method.
    pub method: Method,
    /// The path and the query.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: String,
    pub(super) parameters: Parameters,
}

impl RecordedRequest {
    /// Returns a parameter of the query or the form. The first one, if there are several.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name)
    }

    /// Returns all parameters of the query or the form, in their order.
    pub fn parameters(&self) -> &[(String, String)] {
        self.parameters.pairs()
    }
}
