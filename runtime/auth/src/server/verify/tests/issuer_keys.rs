//! Fetches of the keys of an issuer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::{ISSUER, claims, clock, jwks, outcome, sign};
use crate::AuthError;
use crate::jose::{KeySet, SigningKey};
use crate::server::verify::refreshing::{Fetched, Source, SourceFuture};
use crate::server::{JwtVerifier, VerifyError};

/// Published keys of an issuer. `None` is an issuer that is down.
#[derive(Clone, Debug, Default)]
struct Published {
    jwks: Arc<Mutex<Option<Value>>>,
    fetches: Arc<AtomicUsize>,
}

impl Published {
    fn set(&self, keys: &[&SigningKey]) {
        *self.jwks.lock().unwrap() = Some(jwks(keys));
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

impl Source<KeySet> for Published {
    fn fetch(&self) -> SourceFuture<'_, KeySet> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        let jwks = self.jwks.lock().unwrap().clone();
        let keys = jwks.map(|jwks| KeySet::parse(jwks.to_string().as_bytes()).unwrap());
        let fetched = keys.map(|value| Fetched {
            value,
            lifetime: Duration::from_secs(600),
        });
        let down = AuthError::Unavailable("down".into());
        Box::pin(std::future::ready(fetched.ok_or(down)))
    }
}

fn key(id: &str) -> SigningKey {
    SigningKey::generate().unwrap().key_id(id)
}

#[tokio::test]
async fn many_unknown_keys_cause_one_fetch_in_a_cooldown() {
    // AUTH-X-24, AUTH-R-39
    let (published, clock, key) = (Published::default(), clock(), key("1"));
    published.set(&[&key]);
    let builder = JwtVerifier::builder(ISSUER).clock(clock.clone());
    let verifier = builder.source(published.clone()).build().unwrap();
    let good = sign(&key, "at+jwt", &claims());
    let mut fetches = Vec::new();
    for round in 0..4 {
        for number in 0..2500 {
            // No signature is needed to get this far.
            let header = format!(r#"{{"alg":"ES256","typ":"at+jwt","kid":"{round}-{number}"}}"#);
            let header = crate::jose::base64url(header);
            let token = format!("{header}.{}", good.split_once('.').unwrap().1);
            assert_eq!(outcome(&verifier, &token).await, Err(VerifyError::Invalid));
        }
        assert_eq!(outcome(&verifier, &good).await, Ok(()));
        fetches.push(published.fetches());
        clock.advance(Duration::from_secs(30));
    }
    assert_eq!(fetches, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_new_key_is_found_after_a_rotation() {
    // AUTH-R-39
    let (published, clock) = (Published::default(), clock());
    let (old, new) = (key("1"), key("2"));
    published.set(&[&old]);
    let builder = JwtVerifier::builder(ISSUER).clock(clock.clone());
    let verifier = builder.source(published.clone()).build().unwrap();
    let (by_old, by_new) = (
        sign(&old, "at+jwt", &claims()),
        sign(&new, "at+jwt", &claims()),
    );
    assert_eq!(outcome(&verifier, &by_old).await, Ok(()));
    published.set(&[&old, &new]);
    clock.advance(Duration::from_secs(30));
    assert_eq!(outcome(&verifier, &by_new).await, Ok(()));
    assert_eq!(outcome(&verifier, &by_old).await, Ok(()));
    assert_eq!(published.fetches(), 2);
    // A key that was withdrawn proves nothing once the keys were fetched again.
    published.set(&[&new]);
    clock.advance(Duration::from_secs(600));
    let by_old = sign(
        &old,
        "at+jwt",
        &super::claims_with("exp", Some((super::NOW + 9999).into())),
    );
    assert_eq!(outcome(&verifier, &by_old).await, Err(VerifyError::Invalid));
}

#[tokio::test]
async fn tokens_cannot_be_verified_while_keys_are_unknown() {
    // AUTH-R-20, AUTH-X-24
    let (published, clock, key) = (Published::default(), clock(), key("1"));
    let builder = JwtVerifier::builder(ISSUER).clock(clock.clone());
    let verifier = builder.source(published.clone()).build().unwrap();
    let token = sign(&key, "at+jwt", &claims());
    let unavailable = VerifyError::Unavailable {
        retry_after: Duration::from_secs(5),
    };
    for _ in 0..100 {
        assert_eq!(outcome(&verifier, &token).await, Err(unavailable.clone()));
    }
    assert_eq!(published.fetches(), 1);
    published.set(&[&key]);
    clock.advance(Duration::from_secs(5));
    assert_eq!(outcome(&verifier, &token).await, Ok(()));
}

#[tokio::test]
async fn a_token_that_cannot_be_of_the_issuer_causes_no_fetch() {
    // AUTH-X-20, AUTH-R-31
    let published = Published::default();
    let builder = JwtVerifier::builder(ISSUER).clock(clock());
    let verifier = builder.source(published.clone()).build().unwrap();
    let key = key("1");
    let foreign = sign(
        &key,
        "at+jwt",
        &super::claims_with("iss", Some("https://x.example".into())),
    );
    let id_jag = sign(&key, "oauth-id-jag+jwt", &claims());
    let long = "x".repeat(20_000);
    for token in [&foreign, &id_jag, "", "opaque", "a.b.c.d.e", &long] {
        assert_eq!(outcome(&verifier, token).await, Err(VerifyError::Invalid));
    }
    assert_eq!(published.fetches(), 0);
}
