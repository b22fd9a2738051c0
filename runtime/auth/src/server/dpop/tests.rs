//! Requests with bound tokens, against the authorizer of a resource server.

use std::time::{Duration, SystemTime};

use http::request::Parts;
use http::{HeaderMap, Request};
use serde_json::{Map, Value, json};
use treenail_runtime::{HttpAuthorizer, Server};

use super::Dpop;
use crate::Clock;
use crate::jose::{ProofRequest, SigningKey, sha256_base64url};
use crate::server::authorizer::Authorizer;
use crate::server::{JwtVerifier, ResourceServer};

const RESOURCE: &str = "https://mcp.example.com/mcp";
const ISSUER: &str = "https://id.example.com";
const NOW: u64 = 1_700_000_000;

/// A resource server with an issuer of tokens, and a client with a key.
struct Setup {
    authorizer: Authorizer,
    issuer: SigningKey,
    client: SigningKey,
    clock: Clock,
}

/// Status and `WWW-Authenticate` of a refusal; `Ok` for an authorized request.
type Outcome = Result<(), (u16, String)>;

impl Setup {
    fn new(dpop: Option<Dpop>) -> Self {
        let issuer = SigningKey::generate().unwrap();
        let clock = Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(NOW));
        let verifier = JwtVerifier::builder(ISSUER)
            .jwks(json!({ "keys": [issuer.public_jwk()] }))
            .clock(clock.clone())
            .build()
            .unwrap();
        let mut config = ResourceServer::new(RESOURCE)
            .issuer(ISSUER)
            .verifier(verifier)
            .clock(clock.clone());
        if let Some(dpop) = dpop {
            config = config.dpop(dpop);
        }
        let server = Server::builder("test", "1.0.0").build().unwrap();
        Self {
            authorizer: Authorizer::new(&config, &server).unwrap(),
            issuer,
            client: SigningKey::generate().unwrap(),
            clock,
        }
    }

    fn token(&self, key: Option<&SigningKey>) -> String {
        let mut claims = Map::new();
        for (name, value) in [
            ("iss", json!(ISSUER)),
            ("sub", json!("alice")),
            ("aud", json!(RESOURCE)),
            ("exp", json!(NOW + 3600)),
        ] {
            claims.insert(name.to_owned(), value);
        }
        if let Some(key) = key {
            let binding = json!({ "jkt": key.public_key().thumbprint() });
            claims.insert("cnf".to_owned(), binding);
        }
        let algorithm = self.issuer.algorithm();
        self.issuer.sign(algorithm, "at+jwt", &claims).unwrap()
    }

    /// Returns the request of a valid proof.
    fn request<'a>(&self, token: &'a str) -> ProofRequest<'a> {
        ProofRequest {
            method: "POST",
            url: RESOURCE,
            token: Some(token),
            nonce: None,
            now: self.clock.now(),
        }
    }

    fn proof(&self, token: &str) -> String {
        self.sign(&self.request(token))
    }

    fn sign(&self, request: &ProofRequest<'_>) -> String {
        let algorithm = self.client.algorithm();
        self.client.dpop_proof(algorithm, request).unwrap()
    }

    async fn send(&self, scheme: &str, token: &str, proofs: &[&str]) -> Outcome {
        let outcome = self.respond(scheme, token, proofs).await;
        outcome.map_err(|(status, headers)| {
            let challenges = headers.get_all("www-authenticate").iter();
            let challenges = challenges.map(|challenge| challenge.to_str().unwrap());
            (status, challenges.collect::<Vec<_>>().join("; "))
        })
    }

    async fn respond(
        &self,
        scheme: &str,
        token: &str,
        proofs: &[&str],
    ) -> Result<(), (u16, HeaderMap)> {
        let parts = parts(scheme, token, proofs);
        let result = self.authorizer.authorize(&parts).await;
        let refusal = result.map(drop);
        refusal.map_err(|response| (response.status().as_u16(), response.headers().clone()))
    }
}

fn parts(scheme: &str, token: &str, proofs: &[&str]) -> Parts {
    let mut request = Request::post("/mcp").header("authorization", format!("{scheme} {token}"));
    for proof in proofs {
        request = request.header("DPoP", *proof);
    }
    request.body(()).unwrap().into_parts().0
}

fn is_refused_with(outcome: Outcome, code: &str) {
    let (status, challenge) = outcome.unwrap_err();
    assert_eq!(status, 401);
    assert!(
        challenge.contains(&format!("error=\"{code}\"")),
        "{challenge}"
    );
}

#[tokio::test]
async fn scheme_and_binding_must_agree() {
    // AUTH-R-63, AUTH-X-34
    let setup = Setup::new(Some(Dpop::optional()));
    let (bound, unbound) = (setup.token(Some(&setup.client)), setup.token(None));
    let proof = setup.proof(&bound);
    assert_eq!(setup.send("Bearer", &unbound, &[]).await, Ok(()));
    is_refused_with(
        setup.send("Bearer", &bound, &[&proof]).await,
        "invalid_token",
    );
    let of_unbound = setup.proof(&unbound);
    is_refused_with(
        setup.send("DPoP", &unbound, &[&of_unbound]).await,
        "invalid_token",
    );
    assert_eq!(setup.send("DPoP", &bound, &[&proof]).await, Ok(()));

    let strict = Setup::new(Some(Dpop::required()));
    let unbound = strict.token(None);
    let (status, challenge) = strict.send("Bearer", &unbound, &[]).await.unwrap_err();
    assert_eq!(status, 401);
    assert!(!challenge.contains("Bearer "), "{challenge}");
    assert!(challenge.contains("algs=\"ES256 "), "{challenge}");

    let without = Setup::new(None);
    let bound = without.token(Some(&without.client));
    is_refused_with(without.send("Bearer", &bound, &[]).await, "invalid_token");
    let proof = without.proof(&bound);
    assert!(without.send("DPoP", &bound, &[&proof]).await.is_err());
}

#[tokio::test]
async fn exactly_one_proof_is_needed() {
    // AUTH-R-62, AUTH-X-34
    let setup = Setup::new(Some(Dpop::optional()));
    let token = setup.token(Some(&setup.client));
    let (first, second) = (setup.proof(&token), setup.proof(&token));
    let listed = format!("{first}, {second}");
    for proofs in [
        &[][..],
        &[&*first, &*second],
        &[&*first, &*first],
        &[""],
        &[&*listed],
    ] {
        is_refused_with(
            setup.send("DPoP", &token, proofs).await,
            "invalid_dpop_proof",
        );
    }
    assert_eq!(setup.send("DPoP", &token, &[&first]).await, Ok(()));
}

#[tokio::test]
async fn a_proof_is_accepted_for_its_request_only() {
    // AUTH-X-34
    let setup = Setup::new(Some(Dpop::optional()));
    let token = setup.token(Some(&setup.client));
    let good = setup.request(&token);
    let other_token = setup.token(None);
    let (past, future) = (NOW - 301, NOW + 301);
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    for request in [
        ProofRequest {
            method: "GET",
            ..good
        },
        ProofRequest {
            method: "post",
            ..good
        },
        ProofRequest {
            url: "https://mcp.example.com/other",
            ..good
        },
        ProofRequest {
            url: "https://evil.example/mcp",
            ..good
        },
        ProofRequest {
            url: "http://mcp.example.com/mcp",
            ..good
        },
        ProofRequest {
            token: Some(&other_token),
            ..good
        },
        ProofRequest {
            token: None,
            ..good
        },
        ProofRequest {
            now: at(past),
            ..good
        },
        ProofRequest {
            now: at(future),
            ..good
        },
    ] {
        let proof = setup.sign(&request);
        is_refused_with(
            setup.send("DPoP", &token, &[&proof]).await,
            "invalid_dpop_proof",
        );
    }
    // The refused proofs were not remembered, and the right one passes.
    let proof = setup.sign(&good);
    assert_eq!(setup.send("DPoP", &token, &[&proof]).await, Ok(()));
}

#[tokio::test]
async fn a_proof_by_another_key_is_refused() {
    // AUTH-X-34
    let setup = Setup::new(Some(Dpop::optional()));
    let other = SigningKey::generate().unwrap();
    let token = setup.token(Some(&other));
    let proof = setup.proof(&token);
    is_refused_with(
        setup.send("DPoP", &token, &[&proof]).await,
        "invalid_dpop_proof",
    );
}

#[tokio::test]
async fn a_private_key_in_a_proof_is_refused() {
    // AUTH-X-34
    let setup = Setup::new(Some(Dpop::optional()));
    let token = setup.token(Some(&setup.client));
    let proof = |jwk: Value| {
        let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk });
        let claims = json!({
            "jti": jwk.to_string(),
            "htm": "POST",
            "htu": RESOURCE,
            "iat": NOW,
            "ath": sha256_base64url(&token),
        });
        let header = header.as_object().unwrap();
        let claims = claims.to_string();
        let algorithm = setup.client.algorithm();
        setup
            .client
            .sign_as(algorithm, header, claims.as_bytes())
            .unwrap()
    };
    let public = Value::Object(setup.client.public_key().to_jwk());
    assert_eq!(
        setup.send("DPoP", &token, &[&proof(public.clone())]).await,
        Ok(())
    );
    let mut private = public;
    private["d"] = json!("AAAA");
    is_refused_with(
        setup.send("DPoP", &token, &[&proof(private)]).await,
        "invalid_dpop_proof",
    );
}

#[tokio::test]
async fn a_replayed_proof_is_refused_until_it_is_too_old() {
    // AUTH-R-64, AUTH-X-34
    let setup = Setup::new(Some(Dpop::optional()));
    let token = setup.token(Some(&setup.client));
    let proof = setup.proof(&token);
    assert_eq!(setup.send("DPoP", &token, &[&proof]).await, Ok(()));
    for _ in 0..7 {
        is_refused_with(
            setup.send("DPoP", &token, &[&proof]).await,
            "invalid_dpop_proof",
        );
        setup.clock.advance(Duration::from_secs(50));
    }
}

#[tokio::test]
async fn a_required_nonce_is_one_of_this_server() {
    // AUTH-R-65, AUTH-X-34
    let nonces = |key: u8| Setup::new(Some(Dpop::optional().nonces([key; 32]).unwrap()));
    let (setup, other) = (nonces(1), nonces(2));
    let nonce_of = async |setup: &Setup| {
        let token = setup.token(Some(&setup.client));
        let proof = setup.proof(&token);
        let (status, headers) = setup.respond("DPoP", &token, &[&proof]).await.unwrap_err();
        assert_eq!(status, 401);
        headers["dpop-nonce"].to_str().unwrap().to_owned()
    };
    let (nonce, foreign) = (nonce_of(&setup).await, nonce_of(&other).await);
    let token = setup.token(Some(&setup.client));
    let try_nonce = async |nonce: &str| {
        let request = ProofRequest {
            nonce: Some(nonce),
            ..setup.request(&token)
        };
        let proof = setup.sign(&request);
        setup.send("DPoP", &token, &[&proof]).await
    };
    assert_eq!(try_nonce(&nonce).await, Ok(()));
    is_refused_with(try_nonce(&foreign).await, "use_dpop_nonce");
    is_refused_with(try_nonce("").await, "use_dpop_nonce");
    setup.clock.advance(Duration::from_secs(301));
    is_refused_with(try_nonce(&nonce).await, "use_dpop_nonce");
}

#[tokio::test]
async fn other_tokens_of_the_issuer_are_refused_at_the_endpoint() {
    // AUTH-X-21, AUTH-X-35, AUTH-R-67
    let setup = Setup::new(None);
    let claims = json!({ "iss": ISSUER, "sub": "alice", "aud": RESOURCE, "exp": NOW + 60 });
    let claims = claims.as_object().unwrap();
    let sign = |typ: &str, claims: &Map<String, Value>| {
        setup
            .issuer
            .sign(setup.issuer.algorithm(), typ, claims)
            .unwrap()
    };
    let good = sign("at+jwt", claims);
    assert_eq!(setup.send("Bearer", &good, &[]).await, Ok(()));
    for typ in ["oauth-id-jag+jwt", "logout+jwt", "dpop+jwt"] {
        let token = sign(typ, claims);
        is_refused_with(setup.send("Bearer", &token, &[]).await, "invalid_token");
    }
    for audience in [
        json!("desktop"),
        json!("https://mcp.example.com"),
        json!("https://mcp.example.com/mcp/"),
        json!("https://mcp.example.com/mcp2"),
        json!("https://mcp.example.com:8443/mcp"),
        json!("https://mcp.example.com/other/mcp"),
        json!(["https://upstream.example", "https://mcp.example.com/"]),
    ] {
        // AUTH-X-22
        let mut claims = claims.clone();
        claims.insert("aud".to_owned(), audience);
        let token = sign("at+jwt", &claims);
        is_refused_with(setup.send("Bearer", &token, &[]).await, "invalid_token");
    }
}
