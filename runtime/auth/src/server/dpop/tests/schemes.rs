//! Tests of the schemes of tokens, and of the challenges that announce them.

use super::{Fixture, challenges, expect_refused};
use crate::Dpop;
use crate::jose::ProofRequest;

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
