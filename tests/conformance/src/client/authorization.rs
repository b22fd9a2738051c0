//! Authorization of the client: the values of a scenario, and a user who approves each request at once.

use std::env;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use treenail::auth::{
    AuthError, AuthorizationRequest, Callback, ClientCredentials, IdentityProvider, OAuth, Secret,
    SigningKey, SubjectToken, WorkloadToken,
};

use crate::scenarios::Failure;

/// Client id whose document the suite does not read.
const CLIENT_ID_URL: &str = "https://conformance-test.local/client-metadata.json";
/// Nothing listens here: the redirect is read from the response.
const REDIRECT_URI: &str = "http://localhost:3000/callback";

/// Returns the client for a scenario; `None` for scenarios without authorization.
pub(crate) fn oauth(scenario: &str) -> Result<Option<OAuth>, Failure> {
    let Some(scenario) = scenario.strip_prefix("auth/") else {
        return Ok(None);
    };
    let oauth = OAuth::callback("conformance-client", Callback::new(REDIRECT_URI, approve));
    Ok(Some(match scenario {
        "basic-cimd" => oauth.client_id_url(CLIENT_ID_URL),
        "pre-registration" => {
            let context = Context::read()?;
            let (id, secret) = (context.text("client_id")?, context.text("client_secret")?);
            let credentials = ClientCredentials::secret(id, secret);
            oauth.client(credentials.issuer(context.text("issuer")?))
        }
        "client-credentials-basic" => {
            let context = Context::read()?;
            let (id, secret) = (context.text("client_id")?, context.text("client_secret")?);
            OAuth::client_credentials(ClientCredentials::secret(id, secret).allow_any_issuer())
        }
        "client-credentials-jwt" => {
            let context = Context::read()?;
            let key = SigningKey::from_pem(context.text("private_key_pem")?)?;
            let credentials = ClientCredentials::private_key(context.text("client_id")?, key);
            OAuth::client_credentials(credentials.allow_any_issuer())
        }
        "enterprise-managed-authorization" => enterprise(&Context::read()?)?,
        "wif-jwt-bearer" => workload(&Context::read()?)?,
        "dpop" | "dpop-nonce" => oauth.dpop(),
        _ => oauth,
    }))
}

fn enterprise(context: &Context) -> Result<OAuth, Failure> {
    let id_token = context.text("idp_id_token")?.to_owned();
    let provider = IdentityProvider::new(
        context.text("idp_token_endpoint")?,
        ClientCredentials::public(context.text("idp_client_id")?),
        move || {
            let token = SubjectToken::id_token(id_token.as_str());
            async { Ok(token) }
        },
    );
    let (id, secret) = (context.text("client_id")?, context.text("client_secret")?);
    let credentials = ClientCredentials::secret(id, secret).allow_any_issuer();
    Ok(OAuth::enterprise("conformance-client", provider).client(credentials))
}

fn workload(context: &Context) -> Result<OAuth, Failure> {
    let credentials = ClientCredentials::public(context.text("client_id")?).allow_any_issuer();
    let jwt = context.text("valid_jwt")?.to_owned();
    let token = WorkloadToken::function(move || {
        let jwt = Secret::from(jwt.as_str());
        async { Ok(jwt) }
    });
    Ok(OAuth::workload(credentials, token))
}

/// Values of a scenario.
struct Context(Value);

impl Context {
    fn read() -> Result<Self, Failure> {
        Ok(Self(serde_json::from_str(&env::var(
            "MCP_CONFORMANCE_CONTEXT",
        )?)?))
    }

    fn text(&self, name: &str) -> Result<&str, Failure> {
        let missing = || format!("the context has no text `{name}`");
        Ok(self.0[name].as_str().ok_or_else(missing)?)
    }
}

/// Requests the URL as a browser would, and returns the `Location` of the response.
async fn approve(request: AuthorizationRequest) -> Result<String, AuthError> {
    let location = location(request.url()).await;
    location.map_err(|error| AuthError::NotAuthorized(error.to_string().into()))
}

async fn location(url: &str) -> Result<String, std::io::Error> {
    let rest = url.strip_prefix("http://").unwrap_or_default();
    let (host, target) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    let mut headers = response.lines().filter_map(|line| line.split_once(": "));
    let location = headers.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    let missing = || std::io::Error::other("the authorization endpoint did not redirect");
    Ok(location.ok_or_else(missing)?.1.to_owned())
}
