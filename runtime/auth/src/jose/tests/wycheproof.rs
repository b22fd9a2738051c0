//! Signatures of Project Wycheproof: all invalid ones, and valid ones of each kind.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::jose::base64url_decode as decode;
use crate::jose::{Algorithm, PublicKey};

/// Test vectors of <https://github.com/C2SP/wycheproof> (version 1, Apache-2.0), as JWK and base64url.
const VECTORS: &str = include_str!("wycheproof.json");

#[derive(Deserialize)]
struct Group {
    alg: String,
    jwk: Map<String, Value>,
    /// Number, message, signature, validity.
    tests: Vec<(u32, String, String, bool)>,
}

#[test]
fn signatures_are_valid_exactly_where_wycheproof_says_so() {
    let groups: Vec<Group> = serde_json::from_str(VECTORS).unwrap();
    let mut count = [0, 0];
    for group in groups {
        let algorithm = Algorithm::from_name(&group.alg).unwrap();
        let key = PublicKey::from_jwk(&group.jwk).unwrap();
        for (number, message, signature, valid) in group.tests {
            let (message, signature) = (decode(&message).unwrap(), decode(&signature).unwrap());
            let verified = key.verify(algorithm, &message, &signature);
            assert_eq!(verified, valid, "{} {number}", group.alg);
            count[usize::from(valid)] += 1;
        }
    }
    assert_eq!(count, [533, 62]);
}
