//! Proofs of the possession of a key (`DPoP`), each for one request.

use std::time::Duration;

use serde_json::{Value, json};

use super::{at, keys, token};
use crate::jose::{
    Algorithm, Expected, JoseError, ProofRequest, SigningKey, check_proof, sha256_base64url,
};

const URL: &str = "https://mcp.example.com/mcp";
const NOW: u64 = 1_700_000_000;

fn expected() -> Expected<'static> {
    Expected {
        method: "POST",
        url: URL,
        token: Some("access-token"),
        now: at(NOW),
        window: Duration::from_secs(300),
    }
}

fn request() -> ProofRequest<'static> {
    ProofRequest {
        method: "POST",
        url: URL,
        token: Some("access-token"),
        nonce: None,
        now: at(NOW),
    }
}

#[test]
fn a_proof_is_valid_for_its_request() {
    // AUTH-C-152
    for key in keys() {
        let nonce = Some("n-1");
        let request = ProofRequest { nonce, ..request() };
        let proof = key.dpop_proof(key.algorithm(), &request).unwrap();
        let proof = check_proof(&proof, &expected()).unwrap();
        assert_eq!(proof.thumbprint, key.public_key().thumbprint());
        assert_eq!(proof.nonce.as_deref(), nonce);
        assert_eq!(proof.expires_at, at(NOW + 300));
    }
}

#[test]
fn each_proof_has_an_id_of_its_own() {
    let [key, ..] = keys();
    let id = || {
        let proof = key.dpop_proof(key.algorithm(), &request()).unwrap();
        check_proof(&proof, &expected()).unwrap().id
    };
    assert_ne!(id(), id());
}

#[test]
fn a_proof_is_valid_for_no_other_request() {
    // AUTH-X-34
    let [key, ..] = keys();
    let proof = key.dpop_proof(key.algorithm(), &request()).unwrap();
    let check = |expected: Expected<'_>| check_proof(&proof, &expected).is_ok();
    assert!(check(expected()));
    for method in ["GET", "post", ""] {
        assert!(!check(Expected {
            method,
            ..expected()
        }));
    }
    for token in ["access-tokem", "", "ACCESS-TOKEN"] {
        let token = Some(token);
        assert!(!check(Expected {
            token,
            ..expected()
        }));
    }
    for (seconds, valid) in [
        (NOW + 300, true),
        (NOW - 300, true),
        (NOW + 301, false),
        (NOW - 301, false),
    ] {
        let now = at(seconds);
        assert_eq!(check(Expected { now, ..expected() }), valid, "{seconds}");
    }
}

#[test]
fn urls_are_compared_in_normal_form() {
    let [key, ..] = keys();
    let check = |proof: &str, request: &str| {
        let made = ProofRequest {
            url: proof,
            ..self::request()
        };
        let proof = key.dpop_proof(key.algorithm(), &made).unwrap();
        let url = request;
        check_proof(&proof, &Expected { url, ..expected() }).is_ok()
    };
    for same in [
        "https://MCP.example.com/mcp",
        "HTTPS://mcp.example.com:443/mcp",
        "https://mcp.example.com/mcp?session=1#x",
        "https://mcp.example.com/%6dcp",
        "https://mcp.example.com/a/../mcp",
        "https://mcp.example.com/mcp/",
    ] {
        assert!(check(same, URL), "{same}");
        assert!(check(URL, same), "{same}");
    }
    assert!(check("https://mcp.example.com", "https://mcp.example.com/"));
    for other in [
        "https://mcp.example.com/mcp//",
        "https://mcp.example.com/MCP",
        "https://mcp.example.com:8443/mcp",
        "http://mcp.example.com/mcp",
        "https://mcp.example.com.evil.com/mcp",
        "https://user@mcp.example.com/mcp",
        "/mcp",
        "mcp",
        "",
        "https:///mcp",
        "ftp://mcp.example.com/mcp",
    ] {
        assert!(!check(other, URL), "{other}");
    }
}

/// Checks a proof with one changed member of header or claims.
fn changed(part: &str, name: &str, value: Value) -> Result<(), JoseError> {
    let [key, ..] = keys();
    let mut parts = json!({
        "header": { "typ": "dpop+jwt", "alg": "ES256", "jwk": key.public_key().to_jwk() },
        "claims": {
            "jti": "1",
            "htm": "POST",
            "htu": URL,
            "iat": NOW,
            "ath": sha256_base64url("access-token"),
        },
    });
    if value == json!("<absent>") {
        parts[part].as_object_mut().unwrap().remove(name);
    } else {
        parts[part][name] = value;
    }
    let (header, claims) = (parts["header"].to_string(), parts["claims"].to_string());
    let proof = token(&key, Algorithm::Es256, &header, &claims);
    check_proof(&proof, &expected()).map(drop)
}

#[test]
fn proofs_with_other_members_are_refused() {
    // AUTH-R-62, AUTH-X-34
    assert!(changed("claims", "other", json!(1)).is_ok());
    assert!(changed("header", "typ", json!("application/DPoP+JWT")).is_ok());
    let mut private = keys()[0].public_jwk();
    private["d"] = json!("AAAA");
    let foreign = SigningKey::generate().unwrap().public_jwk();
    let oct = json!({ "kty": "oct", "k": "AAAA" });
    for (part, name, values) in [
        (
            "header",
            "typ",
            vec![json!("JWT"), json!("at+jwt"), json!(1)],
        ),
        (
            "header",
            "alg",
            vec![json!("none"), json!("HS256"), json!("RS256")],
        ),
        (
            "header",
            "jwk",
            vec![private, foreign, oct, json!(null), json!([]), json!("k")],
        ),
        ("claims", "jti", vec![json!(""), json!(1), json!(null)]),
        (
            "claims",
            "htm",
            vec![json!("GET"), json!("post"), json!(["POST"])],
        ),
        (
            "claims",
            "htu",
            vec![json!("https://evil.com/mcp"), json!(1), json!("%")],
        ),
        (
            "claims",
            "iat",
            vec![
                json!("1700000000"),
                json!(NOW - 301),
                json!(NOW + 301),
                json!(1e308),
            ],
        ),
        (
            "claims",
            "ath",
            vec![json!("AAAA"), json!(sha256_base64url("other")), json!(null)],
        ),
        ("claims", "nonce", vec![json!(1)]),
    ] {
        for value in values {
            assert!(
                changed(part, name, value.clone()).is_err(),
                "{name}: {value}"
            );
        }
        if name != "nonce" {
            assert!(changed(part, name, json!("<absent>")).is_err(), "no {name}");
        }
    }
}
