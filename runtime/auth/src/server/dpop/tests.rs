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

#[tokio::test]
async fn a_bound_token_needs_a_proof_of_its_key() {
    let fixture = Fixture::new(Some(Dpop::optional()));
    let request = fixture.request();
    let now = request.now;
    let minutes = |minutes: u64| Duration::from_secs(minutes * 60 + 1);
    let wrong = [
        ProofRequest {
            method: "GET",
            ..request
        },
        ProofRequest {
            url: "https://mcp.example.com/other",
            ..request
        },
        ProofRequest {
            url: "http://mcp.example.com/mcp",
            ..request
        },
        ProofRequest {
            token: Some("other"),
            ..request
        },
        ProofRequest {
            token: None,
            ..request
        },
        ProofRequest {
            now: now - minutes(5),
            ..request
        },
        ProofRequest {
            now: now + minutes(5),
            ..request
        },
    ];
    for wrong in &wrong {
        let result = fixture.send("DPoP bound", &[&fixture.proof(wrong)]).await;
        expect_refused(result, "invalid_dpop_proof", "AUTH-R-62 AUTH-X-34");
    }
}

#[tokio::test]
async fn one_proof_is_accepted_once() {
    let fixture = Fixture::new(Some(Dpop::optional()));
    let request = fixture.request();
    let other_key = SigningKey::generate().unwrap();
    let other_key = other_key
        .dpop_proof(other_key.algorithm(), &request)
        .unwrap();
    let (first, second) = (fixture.proof(&request), fixture.proof(&request));
    let list = format!("{first}, {second}");
    for proofs in [
        &[][..],
        &[&*first, &*second],
        &[&*list],
        &["x"],
        &[&*other_key],
    ] {
        let result = fixture.send("DPoP bound", proofs).await;
        expect_refused(result, "invalid_dpop_proof", "AUTH-R-62 AUTH-X-34");
    }
    assert!(
        fixture.send("DPoP bound", &[&first]).await.is_ok(),
        "no refused proof is remembered"
    );
    let result = fixture.send("DPoP bound", &[&first]).await;
    expect_refused(
        result,
        "invalid_dpop_proof",
        "AUTH-R-64 AUTH-X-34: a replay",
    );
}

#[tokio::test]
async fn clocks_and_spellings_of_urls_may_differ() {
    let fixture = Fixture::new(Some(Dpop::optional()));
    let request = fixture.request();
    let now = request.now;
    let near = [
        ProofRequest {
            now: now - Duration::from_secs(299),
            ..request
        },
        ProofRequest {
            now: now + Duration::from_secs(299),
            ..request
        },
        ProofRequest {
            url: "https://MCP.example.com:443/mcp?x=1",
            ..request
        },
    ];
    for near in &near {
        let proof = fixture.proof(near);
        assert!(
            fixture.send("dpop bound", &[&proof]).await.is_ok(),
            "AUTH-R-62: {near:?}"
        );
    }
}

#[tokio::test]
async fn scheme_and_binding_agree() {
    for dpop in [None, Some(Dpop::optional()), Some(Dpop::required())] {
        let fixture = Fixture::new(dpop.clone());
        let proof = fixture.proof(&fixture.request());
        let result = fixture.send("Bearer bound", &[&proof]).await;
        expect_refused(
            result,
            "invalid_token",
            "AUTH-R-63 AUTH-X-34: a bound token as bearer token",
        );
        let free = ProofRequest {
            token: Some("free"),
            ..fixture.request()
        };
        let result = fixture.send("DPoP free", &[&fixture.proof(&free)]).await;
        let response = result.expect_err("AUTH-R-63");
        assert_eq!(response.status(), 401, "AUTH-R-63");
        let is_required = dpop.as_ref().is_some_and(Dpop::is_required);
        let result = fixture.send("Bearer free", &[]).await;
        assert_eq!(result.is_ok(), !is_required, "AUTH-R-61");
    }
}

#[tokio::test]
async fn challenges_announce_the_accepted_schemes() {
    let cases = [
        (None, &["Bearer "][..]),
        (Some(Dpop::optional()), &["Bearer ", "DPoP "]),
        (Some(Dpop::required()), &["DPoP "]),
    ];
    for (dpop, schemes) in cases {
        let fixture = Fixture::new(dpop);
        let response = fixture.send("Basic x", &[]).await.unwrap_err();
        let challenges = challenges(&response);
        assert_eq!(challenges.len(), schemes.len(), "AUTH-R-61: {challenges:?}");
        for (challenge, scheme) in challenges.iter().zip(schemes) {
            assert!(challenge.starts_with(scheme), "AUTH-R-61: {challenge}");
            assert!(
                challenge.contains("resource_metadata=\"https://"),
                "{challenge}"
            );
            assert!(!challenge.contains("error"), "AUTH-R-13: {challenge}");
            let has_algorithms = challenge.contains("algs=\"ES256 ");
            assert_eq!(has_algorithms, *scheme == "DPoP ", "AUTH-R-61: {challenge}");
        }
    }
    let fixture = Fixture::new(Some(Dpop::optional()));
    let proof = fixture.proof(&fixture.request());
    let caller = fixture.send("DPoP bound", &[&proof]).await.unwrap();
    let response = fixture.authorizer.forbid(&caller, "files:read");
    assert_eq!(response.status(), 403);
    assert!(challenges(&response)[0].starts_with("DPoP "), "AUTH-R-14");
}

#[tokio::test]
async fn a_missing_nonce_is_sent_with_the_refusal() {
    let dpop = || Some(Dpop::optional().nonces([7; 32]).unwrap());
    let (fixture, replica) = (Fixture::new(dpop()), Fixture::new(dpop()));
    let stranger = Fixture::new(Some(Dpop::optional().nonces([8; 32]).unwrap()));
    let nonce_of = |fixture: &Fixture| {
        let proof = fixture.proof(&fixture.request());
        let authorizer = Arc::clone(&fixture.authorizer);
        async move {
            let response = authorizer.authorize(&parts("DPoP bound", &[&proof])).await;
            let response = response.unwrap_err();
            assert_eq!(response.status(), 401, "AUTH-R-65");
            assert!(
                challenges(&response)
                    .iter()
                    .any(|one| one.contains("use_dpop_nonce"))
            );
            response.headers()["dpop-nonce"]
                .to_str()
                .unwrap()
                .to_owned()
        }
    };
    let (own, common) = (nonce_of(&fixture).await, nonce_of(&replica).await);
    for nonce in [&own, &common] {
        let request = ProofRequest {
            nonce: Some(nonce),
            ..fixture.request()
        };
        let proof = fixture.proof(&request);
        assert!(
            fixture.send("DPoP bound", &[&proof]).await.is_ok(),
            "AUTH-R-65"
        );
        let result = fixture.send("DPoP bound", &[&proof]).await;
        expect_refused(result, "invalid_dpop_proof", "AUTH-R-64");
    }
    let foreign = nonce_of(&stranger).await;
    let request = ProofRequest {
        nonce: Some(&foreign),
        ..fixture.request()
    };
    let result = fixture
        .send("DPoP bound", &[&fixture.proof(&request)])
        .await;
    expect_refused(
        result,
        "use_dpop_nonce",
        "AUTH-X-34: a nonce of another server",
    );
    fixture.clock.advance(Duration::from_secs(301));
    let request = ProofRequest {
        nonce: Some(&own),
        ..fixture.request()
    };
    let result = fixture
        .send("DPoP bound", &[&fixture.proof(&request)])
        .await;
    expect_refused(result, "use_dpop_nonce", "AUTH-R-65: an expired nonce");
}
