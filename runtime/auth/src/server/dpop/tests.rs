use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderValue};

use super::{DpopRefusal, DpopRequest, DpopVerifier, MemoryReplayStore, TokenScheme};
use crate::Clock;
use crate::jose::{ProofRequest, SigningKey};
use crate::server::VerifiedToken;

const URL: &str = "https://mcp.example.com/mcp";
const TOKEN: &str = "access-token";

fn clock() -> Clock {
    Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000))
}

fn token(key: Option<&SigningKey>) -> VerifiedToken {
    let mut token = VerifiedToken::new("https://as.example.com", "u", [URL], SystemTime::now());
    token.key_thumbprint = key.map(|key| key.public_key().thumbprint());
    token
}

fn proof(key: &SigningKey, clock: &Clock, nonce: Option<&str>) -> String {
    let request = ProofRequest {
        method: "POST",
        url: URL,
        token: Some(TOKEN),
        nonce,
        now: clock.now(),
    };
    key.dpop_proof(key.algorithm(), &request).unwrap()
}

fn headers(proofs: &[&str]) -> HeaderMap {
    let fields = proofs.iter().map(|proof| {
        let value = HeaderValue::from_str(proof).unwrap();
        (http::HeaderName::from_static("dpop"), value)
    });
    fields.collect()
}

async fn check(
    dpop: &DpopVerifier,
    scheme: TokenScheme,
    proofs: &[&str],
    token: &VerifiedToken,
) -> Result<Option<String>, DpopRefusal> {
    let request = DpopRequest {
        method: "POST",
        url: URL,
        headers: &headers(proofs),
        scheme,
        token: TOKEN,
    };
    dpop.check(&request, token).await
}

fn is_invalid_proof(result: &Result<Option<String>, DpopRefusal>) -> bool {
    matches!(result, Err(DpopRefusal::InvalidProof(_)))
}

#[tokio::test]
async fn scheme_and_binding_must_agree() {
    // AUTH-R-63, AUTH-X-34
    let key = SigningKey::generate().unwrap();
    let clock = clock();
    let dpop = DpopVerifier::new().with_clock(clock.clone());
    let proof = proof(&key, &clock, None);
    let (bound, unbound) = (token(Some(&key)), token(None));
    let bearer = TokenScheme::Bearer;
    assert_eq!(check(&dpop, bearer, &[], &unbound).await, Ok(None));
    for (scheme, token) in [(bearer, &bound), (TokenScheme::Dpop, &unbound)] {
        let result = check(&dpop, scheme, &[&proof], token).await;
        assert!(
            matches!(result, Err(DpopRefusal::InvalidToken(_))),
            "{scheme:?}"
        );
    }
    assert!(DpopVerifier::check_unbound(&bound).is_err());
    assert!(DpopVerifier::check_unbound(&unbound).is_ok());
    let result = check(&dpop, TokenScheme::Dpop, &[&proof], &bound).await;
    assert_eq!(result, Ok(None));
    let result = check(&dpop.required(), bearer, &[], &unbound).await;
    assert!(matches!(result, Err(DpopRefusal::InvalidToken(_))));
}

#[tokio::test]
async fn exactly_one_proof_is_needed() {
    // AUTH-R-62, AUTH-X-34
    let key = SigningKey::generate().unwrap();
    let clock = clock();
    let dpop = DpopVerifier::new().with_clock(clock.clone());
    let token = token(Some(&key));
    let (first, second) = (proof(&key, &clock, None), proof(&key, &clock, None));
    let listed = format!("{first}, {second}");
    for proofs in [
        &[][..],
        &[&*first, &*second],
        &[&*first, &*first],
        &[""],
        &[&*listed],
    ] {
        let result = check(&dpop, TokenScheme::Dpop, proofs, &token).await;
        assert!(is_invalid_proof(&result), "{result:?}");
    }
    assert_eq!(
        check(&dpop, TokenScheme::Dpop, &[&first], &token).await,
        Ok(None)
    );
}

#[tokio::test]
async fn a_proof_by_another_key_is_refused() {
    // AUTH-X-34
    let (key, other) = (
        SigningKey::generate().unwrap(),
        SigningKey::generate().unwrap(),
    );
    let clock = clock();
    let dpop = DpopVerifier::new().with_clock(clock.clone());
    let proof = proof(&other, &clock, None);
    let result = check(&dpop, TokenScheme::Dpop, &[&proof], &token(Some(&key))).await;
    assert!(is_invalid_proof(&result));
    // The refused proof was not remembered.
    let result = check(&dpop, TokenScheme::Dpop, &[&proof], &token(Some(&other))).await;
    assert_eq!(result, Ok(None));
}

#[tokio::test]
async fn a_replayed_proof_is_refused() {
    // AUTH-R-64, AUTH-X-34
    let key = SigningKey::generate().unwrap();
    let clock = clock();
    let dpop = DpopVerifier::new().with_clock(clock.clone());
    let token = token(Some(&key));
    let proof = proof(&key, &clock, None);
    assert!(
        check(&dpop, TokenScheme::Dpop, &[&proof], &token)
            .await
            .is_ok()
    );
    for _ in 0..5 {
        let result = check(&dpop, TokenScheme::Dpop, &[&proof], &token).await;
        assert!(is_invalid_proof(&result));
        clock.advance(Duration::from_secs(100));
    }
}

#[tokio::test]
async fn a_full_memory_refuses_until_proofs_expire() {
    let key = SigningKey::generate().unwrap();
    let clock = clock();
    let store = MemoryReplayStore::with_capacity(2);
    let dpop = DpopVerifier::new()
        .with_clock(clock.clone())
        .with_replay_store(store);
    let token = token(Some(&key));
    let mut results = Vec::new();
    for _ in 0..3 {
        let proof = proof(&key, &clock, None);
        results.push(check(&dpop, TokenScheme::Dpop, &[&proof], &token).await);
    }
    assert_eq!(results, [Ok(None), Ok(None), Err(DpopRefusal::Unavailable)]);
    clock.advance(Duration::from_secs(301));
    let proof = proof(&key, &clock, None);
    assert!(
        check(&dpop, TokenScheme::Dpop, &[&proof], &token)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_required_nonce_is_one_of_this_server() {
    // AUTH-R-65, AUTH-X-34
    let key = SigningKey::generate().unwrap();
    let clock = clock();
    let token = token(Some(&key));
    let server = |key: u8| {
        DpopVerifier::new()
            .with_clock(clock.clone())
            .with_nonce_key([key; 32])
    };
    let (dpop, replica, other) = (server(1), server(1), server(2));
    let try_nonce = async |dpop: &DpopVerifier, nonce: Option<&str>| {
        let proof = proof(&key, &clock, nonce);
        check(dpop, TokenScheme::Dpop, &[&proof], &token).await
    };
    let Err(DpopRefusal::UseNonce(nonce)) = try_nonce(&dpop, None).await else {
        panic!("no nonce was demanded");
    };
    let Err(DpopRefusal::UseNonce(foreign)) = try_nonce(&other, None).await else {
        panic!("no nonce was demanded");
    };
    assert_eq!(try_nonce(&dpop, Some(&nonce)).await, Ok(None));
    assert_eq!(try_nonce(&replica, Some(&nonce)).await, Ok(None));
    for wrong in [&foreign, "", "AAAA", &nonce[1..], &format!("{nonce}A")] {
        let result = try_nonce(&dpop, Some(wrong)).await;
        assert!(matches!(result, Err(DpopRefusal::UseNonce(_))), "{wrong}");
    }
    clock.advance(Duration::from_secs(200));
    let Ok(Some(next)) = try_nonce(&dpop, Some(&nonce)).await else {
        panic!("no next nonce was sent");
    };
    clock.advance(Duration::from_secs(101));
    let result = try_nonce(&dpop, Some(&nonce)).await;
    assert!(matches!(result, Err(DpopRefusal::UseNonce(_))));
    assert_eq!(try_nonce(&dpop, Some(&next)).await, Ok(None));
}
