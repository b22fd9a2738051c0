//! Keys: their use, their algorithms, and the documents that are refused.

use serde_json::json;

use super::{ED25519, P256, keys, object};
use crate::jose::{Jws, KeySet, PublicKey, SigningKey};

#[test]
fn each_type_of_key_signs_what_its_public_key_verifies() {
    for key in keys() {
        for algorithm in key.public_key().algorithms() {
            let token = key
                .sign(*algorithm, "at+jwt", &object(json!({ "sub": "u" })))
                .unwrap();
            let jwk = object(key.public_jwk());
            let public = PublicKey::from_jwk(&jwk).unwrap();
            let jws = Jws::parse(&token).unwrap();
            assert_eq!(jws.verify(&public), Ok(()), "{algorithm:?}");
            assert_eq!(jws.header().typ.as_deref(), Some("at+jwt"));
        }
    }
}

#[test]
fn a_key_signs_with_no_algorithm_of_another_type() {
    let claims = object(json!({}));
    for key in keys() {
        for other in keys() {
            let algorithm = other.algorithm();
            if key.public_key().algorithms().contains(&algorithm) {
                continue;
            }
            assert!(key.sign(algorithm, "JWT", &claims).is_err());
        }
    }
}

#[test]
fn a_generated_key_survives_a_store() {
    for key in [
        SigningKey::generate().unwrap(),
        SigningKey::generate_ed25519().unwrap(),
    ] {
        let again = SigningKey::from_pkcs8(key.pkcs8()).unwrap();
        assert_eq!(again.public_key(), key.public_key());
    }
}

#[test]
fn the_algorithm_is_one_that_the_peer_lists() {
    let [p256, _, ed25519, rsa] = keys();
    let among = |key: &SigningKey, names: &[&str]| {
        let names = names.iter().copied();
        key.algorithm_among(names).map(crate::jose::Algorithm::name)
    };
    assert_eq!(among(&p256, &["RS256", "ES256"]), Some("ES256"));
    assert_eq!(among(&rsa, &["PS256", "PS384", "none"]), Some("PS256"));
    assert_eq!(among(&ed25519, &["ES256", "EdDSA"]), Some("EdDSA"));
    assert_eq!(among(&ed25519, &["ES256", "Ed25519"]), Some("Ed25519"));
    assert_eq!(among(&p256, &["RS256", "HS256"]), None);
}

#[test]
fn a_private_key_in_another_form_is_refused_with_the_remedy() {
    let check = |pem: &str, expected: &str| {
        let error = SigningKey::from_pem(pem).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(
        "-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----",
        "openssl pkcs8 -topk8 -nocrypt",
    );
    check("-----BEGIN ENCRYPTED PRIVATE KEY-----", "is encrypted");
    check("hello", "BEGIN PRIVATE KEY");
    check(&P256.replace('M', "!"), "not base64");
    check(
        &ED25519.replace("MC4CAQ", "MC4CAg"),
        "not a PKCS#8 document",
    );
}

#[test]
fn debug_shows_no_key() {
    let key = SigningKey::from_pem(P256).unwrap().key_id("k1");
    let text = format!("{key:?}");
    assert_eq!(
        text,
        r#"SigningKey { algorithm: "ES256", key_id: Some("k1"), .. }"#
    );
}

#[test]
fn a_public_jwk_has_no_private_member() {
    for key in keys() {
        let jwk = object(key.public_jwk());
        assert!(!jwk.contains_key("d"), "{jwk:?}");
    }
}

#[test]
fn a_key_for_another_purpose_is_refused() {
    let jwk = object(SigningKey::from_pem(P256).unwrap().public_jwk());
    for (name, value) in [
        ("use", json!("enc")),
        ("use", json!(1)),
        ("key_ops", json!(["sign"])),
        ("key_ops", json!("verify")),
        ("alg", json!("RS256")),
        ("alg", json!("ES384")),
        ("alg", json!("HS256")),
        ("d", json!("AAAA")),
        ("k", json!("AAAA")),
        ("kty", json!("oct")),
        ("crv", json!("P-521")),
        ("crv", json!("secp256k1")),
        ("x", json!("AAAA")),
        ("y", json!(null)),
        ("x", json!(format!("{}=", jwk["x"].as_str().unwrap()))),
    ] {
        let mut jwk = jwk.clone();
        jwk.insert(name.to_owned(), value.clone());
        assert!(PublicKey::from_jwk(&jwk).is_err(), "{name}: {value}");
    }
}

#[test]
fn rsa_keys_below_2048_bits_are_refused() {
    // AUTH-X-19
    let jwk = |bytes: usize, first: u8| {
        let mut n = vec![0xff; bytes];
        n[0] = first;
        object(json!({ "kty": "RSA", "e": "AQAB", "n": crate::jose::base64url(n) }))
    };
    assert!(PublicKey::from_jwk(&jwk(256, 0x80)).is_ok());
    assert!(PublicKey::from_jwk(&jwk(256, 0x7f)).is_err());
    assert!(PublicKey::from_jwk(&jwk(128, 0xff)).is_err());
    assert!(PublicKey::from_jwk(&jwk(1025, 0x01)).is_err());
}

#[test]
fn a_bad_key_does_not_spoil_the_others() {
    // AUTH-R-38
    let [key, other, ..] = keys();
    let key = key.key_id("good");
    let token = key
        .sign(key.algorithm(), "JWT", &object(json!({})))
        .unwrap();
    let mut published_private = other.public_jwk();
    published_private["d"] = json!("AAAA");
    let good = key.public_jwk();
    let set = format!(
        r#"{{"extra":1,"keys":[1,null,{{}},{{"kty":"oct","k":"AA"}},{{"kty":"EC","kty":"EC"}},{published_private},{good}]}}"#
    );
    let set = KeySet::parse(set.as_bytes()).unwrap();
    assert_eq!(set.verify(&Jws::parse(&token).unwrap()), Ok(true));
    let foreign = other
        .sign(other.algorithm(), "JWT", &object(json!({})))
        .unwrap();
    assert_eq!(set.verify(&Jws::parse(&foreign).unwrap()), Ok(false));
}

#[test]
fn both_names_of_ed25519_fit_a_key_with_one_of_them() {
    let [_, _, key, _] = keys();
    for name in ["EdDSA", "Ed25519"] {
        let mut jwk = key.public_jwk();
        jwk["alg"] = json!(name);
        let set = KeySet::parse(json!({ "keys": [jwk] }).to_string().as_bytes()).unwrap();
        for algorithm in key.public_key().algorithms() {
            let token = key.sign(*algorithm, "JWT", &object(json!({}))).unwrap();
            assert_eq!(set.verify(&Jws::parse(&token).unwrap()), Ok(true));
        }
    }
}

#[test]
fn a_document_that_is_no_key_set_is_refused() {
    let many = json!({ "keys": vec![json!({}); KeySet::MAX_KEYS + 1] }).to_string();
    for document in [
        "",
        "[]",
        "{}",
        "null",
        r#"{"keys":{}}"#,
        r#"{"keys":[],"keys":[]}"#,
        &many,
    ] {
        assert!(KeySet::parse(document.as_bytes()).is_err(), "{document}");
    }
    assert!(KeySet::parse(br#"{"keys":[]}"#).unwrap().is_empty());
}

#[test]
fn without_kid_exactly_one_key_must_fit() {
    // AUTH-R-39
    let [key, _, _, rsa] = keys();
    let token = key
        .sign(key.algorithm(), "JWT", &object(json!({})))
        .unwrap();
    let jws = Jws::parse(&token).unwrap();
    let set = |keys: &[&SigningKey]| {
        let keys: Vec<_> = keys.iter().map(|key| key.public_jwk()).collect();
        KeySet::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
    };
    assert_eq!(set(&[&key, &rsa]).verify(&jws), Ok(true));
    let second = SigningKey::generate().unwrap().key_id("2");
    assert!(set(&[&key, &second]).verify(&jws).is_err());
    assert_eq!(set(&[&rsa]).verify(&jws), Ok(false));
}

#[test]
fn a_kid_selects_its_key_only() {
    let key = SigningKey::from_pem(P256).unwrap();
    let set = json!({ "keys": [key.clone().key_id("a").public_jwk()] }).to_string();
    let set = KeySet::parse(set.as_bytes()).unwrap();
    let verify = |id: &str| {
        let key = key.clone().key_id(id);
        let token = key.sign(key.algorithm(), "JWT", &object(json!({})));
        set.verify(&Jws::parse(&token.unwrap()).unwrap())
    };
    assert_eq!(verify("a"), Ok(true));
    for id in ["b", "A", "", "../../a", "a' OR '1'='1", &"a".repeat(8000)] {
        assert_eq!(verify(id), Ok(false), "{id}");
    }
}
