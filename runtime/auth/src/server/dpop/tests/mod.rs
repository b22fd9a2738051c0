//! Tests of the checks of bound tokens, at the authorizer of a resource server.

mod nonces;
mod proofs;
mod schemes;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use treenail_http_server::{Authorized, HttpAuthorizer, IntoHttpAuthorizer};
use treenail_runtime::Server;

use super::Dpop;
use crate::jose::{ProofRequest, SigningKey};
use crate::{Clock, ResourceServer, VerifiedToken, Verifier, VerifierFuture, VerifyError};

const URL: &str = "https://mcp.example.com/mcp";

/// Tokens `bound`, `other` and `free`.
struct Tokens {
    thumbprint: String,
    clock: Clock,
}

impl Verifier for Tokens {
    fn verify<'a>(&'a self, text: &'a str) -> VerifierFuture<'a> {
        let expires_at = self.clock.now() + Duration::from_secs(3_600);
        let mut token = VerifiedToken::new("https://id.example.com", "alice", [URL], expires_at);
        token.key_thumbprint = match text {
            "bound" | "other" => Some(self.thumbprint.clone()),
            _ => None,
        };
        let known = matches!(text, "bound" | "other" | "free");
        Box::pin(async move { known.then_some(token).ok_or(VerifyError::Invalid) })
    }
}

struct Fixture {
    authorizer: Arc<dyn HttpAuthorizer>,
    key: SigningKey,
    clock: Clock,
}

impl Fixture {
    fn new(dpop: Option<Dpop>) -> Self {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let key = SigningKey::generate().unwrap();
        let tokens = Tokens {
            thumbprint: key.public_key().thumbprint(),
            clock: clock.clone(),
        };
        let resource = ResourceServer::new(URL)
            .issuer("https://id.example.com")
            .verifier(tokens)
            .clock(clock.clone());
        let resource = match dpop {
            Some(dpop) => resource.dpop(dpop),
            None => resource,
        };
        let server = Server::builder("demo", "1.0.0").build().unwrap();
        let authorizer = resource.into_authorizer(&server).unwrap();
        Self {
            authorizer,
            key,
            clock,
        }
    }

    fn request(&self) -> ProofRequest<'static> {
        ProofRequest {
            method: "POST",
            url: URL,
            token: Some("bound"),
            nonce: None,
            now: self.clock.now(),
        }
    }

    fn proof(&self, request: &ProofRequest<'_>) -> String {
        self.key.dpop_proof(self.key.algorithm(), request).unwrap()
    }

    async fn send(
        &self,
        authorization: &str,
        proofs: &[&str],
    ) -> Result<Authorized, Response<Bytes>> {
        self.authorizer
            .authorize(&parts(authorization, proofs))
            .await
    }
}

fn parts(authorization: &str, proofs: &[&str]) -> Parts {
    let mut request = Request::post("/mcp").header("authorization", authorization);
    for proof in proofs {
        request = request.header("dpop", *proof);
    }
    request.body(()).unwrap().into_parts().0
}

fn challenges(response: &Response<Bytes>) -> Vec<&str> {
    let fields = response.headers().get_all("www-authenticate").iter();
    fields.map(|field| field.to_str().unwrap()).collect()
}

fn expect_refused(result: Result<Authorized, Response<Bytes>>, error: &str, claim: &str) {
    let response = result.expect_err(claim);
    assert_eq!(response.status(), 401, "{claim}");
    let challenges = challenges(&response);
    let error = format!("error=\"{error}\"");
    assert!(
        challenges.iter().any(|one| one.contains(&error)),
        "{claim}: {challenges:?}"
    );
}
