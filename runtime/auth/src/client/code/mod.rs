//! Authorization code grant: request, response, and the flow around them.

mod flow;
#[cfg(test)]
mod mutations;
mod pkce;
mod pushed;
mod request;
mod response;

pub(crate) use self::flow::CodeGrant;
pub use self::request::AuthorizationRequest;

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use http::Uri;

    use super::request::tests::record;
    use super::request::{AuthorizationRequest, FlowRecord};

    /// Returns a request with the state `state-of-this-flow`.
    pub(crate) fn request_at(redirect_uri: &str, server: &Uri) -> AuthorizationRequest {
        let record = FlowRecord {
            redirect_uri: redirect_uri.into(),
            ..record()
        };
        let url = "https://auth.example.com/authorize".into();
        AuthorizationRequest::new(url, server, Arc::new(record)).unwrap()
    }
}
