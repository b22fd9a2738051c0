//! Sign-in by a function of the program.

use std::fmt;
use std::sync::Arc;

use super::{AuthorizationRequest, UserAgent, UserAgentFlow, UserAgentFuture};
use crate::AuthError;

type Function = dyn Fn(AuthorizationRequest) -> UserAgentFuture<'static, String> + Send + Sync;

/// Sign-in by a function that receives the request and returns the URL of the redirect.
///
/// For programs with a web view or a server of their own, and for tests.
#[derive(Clone)]
#[cfg(feature = "oauth")]
pub struct Callback {
    redirect_uri: Arc<str>,
    function: Arc<Function>,
}

impl Callback {
    /// Returns a user agent with this redirect URI, and this function.
    ///
    /// ```
    /// use treenail::auth::{AuthError, Callback};
    ///
    /// let callback = Callback::new("https://app.example.com/callback", |request| async move {
    ///     // Show `request.url()`, then wait for the redirect.
    ///     Err(AuthError::NotAuthorized("the user has not signed in".into()))
    /// });
    /// ```
    pub fn new<F, R>(redirect_uri: impl Into<String>, function: F) -> Self
    where
        F: Fn(AuthorizationRequest) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, AuthError>> + Send + 'static,
    {
        Self {
            redirect_uri: redirect_uri.into().into(),
            function: Arc::new(move |request| Box::pin(function(request))),
        }
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Callback")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}

impl UserAgent for Callback {
    fn redirect_uri(&self) -> String {
        self.redirect_uri.to_string()
    }

    fn prepare<'a>(&'a self, _: Option<&'a str>) -> UserAgentFuture<'a, Box<dyn UserAgentFlow>> {
        let flow = self.clone();
        Box::pin(async move { Ok(Box::new(flow) as Box<dyn UserAgentFlow>) })
    }
}

impl UserAgentFlow for Callback {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn authorize<'a>(
        &'a mut self,
        request: &'a AuthorizationRequest,
    ) -> UserAgentFuture<'a, String> {
        (self.function)(request.clone())
    }
}
