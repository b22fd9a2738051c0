//! Sign-in without a browser, for clients under test.

use bytes::Bytes;
use http::Request;
use http::header::LOCATION;

use super::reply::Delivery;
use super::server::TestAuthorizationServer;
use crate::{AuthError, AuthorizationRequest, UserAgent, UserAgentFlow, UserAgentFuture};

/// Redirect URI, where nothing listens.
const REDIRECT_URI: &str = "http://127.0.0.1/callback";

/// Signs the [user](TestAuthorizationServer::sign_in) of the server in, without a browser.
///
/// ```
/// use treenail::auth::OAuth;
/// use treenail::auth::testing::TestAuthorizationServer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let authorization_server = TestAuthorizationServer::builder().user("alice").start().await?;
/// let oauth = OAuth::user_agent("My app", authorization_server.clone());
/// # let _ = oauth;
/// # Ok(())
/// # }
/// ```
#[cfg(all(feature = "oauth", feature = "test-authorization"))]
impl UserAgent for TestAuthorizationServer {
    fn redirect_uri(&self) -> String {
        REDIRECT_URI.to_owned()
    }

    fn prepare<'a>(&'a self, _: Option<&'a str>) -> UserAgentFuture<'a, Box<dyn UserAgentFlow>> {
        let flow = Flow(self.clone());
        Box::pin(async move { Ok(Box::new(flow) as Box<dyn UserAgentFlow>) })
    }
}

struct Flow(TestAuthorizationServer);

impl UserAgentFlow for Flow {
    fn redirect_uri(&self) -> &'static str {
        REDIRECT_URI
    }

    fn authorize<'a>(
        &'a mut self,
        request: &'a AuthorizationRequest,
    ) -> UserAgentFuture<'a, String> {
        let shared = self.0.shared();
        let redirected = open(request.url(), |request| shared.respond(request));
        Box::pin(async move { redirected })
    }
}

/// Opens the URL of an authorization request, and returns the URL of the redirect.
fn open(url: &str, respond: impl FnOnce(&Request<Bytes>) -> Delivery) -> Result<String, AuthError> {
    let request = Request::get(url).body(Bytes::new());
    let request = request.map_err(|_| AuthError::invalid("the URL of the request is malformed"))?;
    let Delivery::Whole(response) = respond(&request) else {
        let reason = "the authorization endpoint does not answer";
        return Err(AuthError::Unavailable(reason.into()));
    };
    let location = response.headers().get(LOCATION);
    let location = location.and_then(|location| location.to_str().ok());
    location.map(str::to_owned).ok_or_else(|| {
        let body = String::from_utf8_lossy(response.body());
        let reason = format!("the authorization endpoint refused the request: {body}");
        AuthError::NotAuthorized(reason.into())
    })
}
