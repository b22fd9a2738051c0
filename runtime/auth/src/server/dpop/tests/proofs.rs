//! Tests of the proof of a request.

use std::time::Duration;

use super::{Fixture, expect_refused};
use crate::Dpop;
use crate::jose::{ProofRequest, SigningKey};

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
        ProofRequest {
            url: "https://mcp.example.com/mcp/",
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
