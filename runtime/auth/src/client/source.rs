//! Tokens from the caller, in place of an authorization server.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::{AuthError, Secret};

/// A future of a [`TokenSource`].
#[cfg(feature = "oauth")]
pub type TokenFuture<'a> = Pin<Box<dyn Future<Output = Result<Secret, AuthError>> + Send + 'a>>;

/// A source of access tokens that another part of the program obtains. Functions without arguments implement it.
///
/// ```
/// use treenail::auth::{OAuth, Secret};
///
/// let oauth = OAuth::token_source(|| async { Ok(Secret::from("token of the platform")) });
/// # let _ = oauth;
/// ```
#[cfg(feature = "oauth")]
pub trait TokenSource: Send + Sync + 'static {
    /// Returns the token for the next request.
    ///
    /// It is called with `None` before each request, also before those that the client sends on its own, such as the reopening of a
    /// stream. Then a source returns the token that it has, or renews it without the user. It asks its user only if it has had none, which
    /// is before the first request.
    ///
    /// `refused` is the token that the server has refused with status 401. It is passed for requests of the program only, so a source may
    /// ask its user. A source that returns it again ends the request with that status.
    ///
    /// # Errors
    ///
    /// The error of the request, which is then not sent.
    fn token<'a>(&'a self, refused: Option<&'a Secret>) -> TokenFuture<'a>;
}

impl<F, R> TokenSource for F
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future<Output = Result<Secret, AuthError>> + Send + 'static,
{
    fn token<'a>(&'a self, _: Option<&'a Secret>) -> TokenFuture<'a> {
        Box::pin(self())
    }
}

impl<S: TokenSource + ?Sized> TokenSource for Arc<S> {
    fn token<'a>(&'a self, refused: Option<&'a Secret>) -> TokenFuture<'a> {
        (**self).token(refused)
    }
}

impl fmt::Debug for dyn TokenSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TokenSource")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_source_can_be_shared() {
        async fn token(source: impl TokenSource) -> String {
            let refused = Secret::from("old");
            let token = source.token(Some(&refused)).await.unwrap();
            token.expose().to_owned()
        }
        let shared: Arc<dyn TokenSource> = Arc::new(|| async { Ok(Secret::from("new")) });
        assert_eq!(token(Arc::clone(&shared)).await, "new");
        assert_eq!(token(shared).await, "new");
    }
}
