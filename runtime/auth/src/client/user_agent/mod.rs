//! Ways to let a user sign in: a browser, a console, or a function of the program.

mod browser;
mod callback;
mod console;
mod launcher;
mod listener;
mod terminal;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::AuthError;

pub use self::browser::Browser;
pub use self::callback::Callback;
pub use self::console::Console;
pub use super::code::AuthorizationRequest;

/// A future of a [`UserAgent`].
#[cfg(feature = "oauth")]
pub type UserAgentFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

/// A way to let a user sign in at an authorization server, and to receive the redirect.
///
/// Implementations only show a URL and receive one: the client makes and checks state, proof key and code.
#[cfg(feature = "oauth")]
pub trait UserAgent: fmt::Debug + Send + Sync + 'static {
    /// Returns the redirect URI for documents that describe this client. A loopback address without port means any port.
    fn redirect_uri(&self) -> String;

    /// Prepares one flow, for example opens a listener. Its redirect URI is `http` on a loopback address, or `https`.
    ///
    /// `registered` is the redirect URI of an earlier registration. Another one costs a new registration.
    ///
    /// # Errors
    ///
    /// [`AuthError::NotAuthorized`] if no user can be asked.
    fn prepare<'a>(
        &'a self,
        registered: Option<&'a str>,
    ) -> UserAgentFuture<'a, Box<dyn UserAgentFlow>>;
}

impl<T: UserAgent + ?Sized> UserAgent for Arc<T> {
    fn redirect_uri(&self) -> String {
        (**self).redirect_uri()
    }

    fn prepare<'a>(
        &'a self,
        registered: Option<&'a str>,
    ) -> UserAgentFuture<'a, Box<dyn UserAgentFlow>> {
        (**self).prepare(registered)
    }
}

/// One prepared flow of a [`UserAgent`]. Dropping it ends the flow.
#[cfg(feature = "oauth")]
pub trait UserAgentFlow: Send {
    /// Returns the redirect URI of this flow.
    fn redirect_uri(&self) -> &str;

    /// Shows the URL of the request to the user, and returns the URL of the redirect.
    ///
    /// URLs that the request does not [accept](AuthorizationRequest::accepts) are dropped, and the flow waits on. The caller
    /// bounds the time, and drops the future at its end.
    ///
    /// # Errors
    ///
    /// [`AuthError::NotAuthorized`] if the user does not continue.
    fn authorize<'a>(
        &'a mut self,
        request: &'a AuthorizationRequest,
    ) -> UserAgentFuture<'a, String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_user_agent_can_be_shared() {
        const REDIRECT_URI: &str = "https://app.example.com/callback";

        async fn redirect_uris(agent: impl UserAgent) -> [String; 2] {
            let flow = agent.prepare(None).await.unwrap();
            [agent.redirect_uri(), flow.redirect_uri().to_owned()]
        }
        let callback = Callback::new(REDIRECT_URI, |request| async move {
            Ok(request.url().to_owned())
        });
        let shared: Arc<dyn UserAgent> = Arc::new(callback);
        assert_eq!(redirect_uris(shared).await, [REDIRECT_URI; 2]);
    }
}
