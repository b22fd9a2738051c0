//! Tests of the nonces of proofs.

use std::sync::Arc;
use std::time::Duration;

use super::{Fixture, challenges, expect_refused, parts};
use crate::Dpop;
use crate::jose::ProofRequest;

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
