//! Tokens that are refused: their algorithms, headers, signatures, sizes and claims.

use serde_json::json;

use super::{keys, token};
use crate::jose::{Algorithm, JoseError, Jws, SigningKey, base64url, numeric_date, string};

fn key() -> SigningKey {
    let [key, ..] = keys();
    key
}

fn refused(token: &str) {
    let result = Jws::parse(token).and_then(|jws| jws.verify(key().public_key()));
    assert!(result.is_err(), "{token}");
}

/// Checks that a token with this header is refused, though its signature is right.
fn header_refused(header: &str) {
    refused(&token(&key(), Algorithm::Es256, header, "{}"));
}

#[test]
fn other_algorithms_are_refused() {
    // AUTH-X-19
    for name in [
        "none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512", "es256", "ES256 ", "ES512",
        "ES256K", "RS1", "Ed448", "dir", "RSA-OAEP",
    ] {
        header_refused(&json!({ "alg": name }).to_string());
    }
    for header in [
        "{}",
        r#"{"alg":null}"#,
        r#"{"alg":1}"#,
        r#"{"alg":["ES256"]}"#,
        r#"{"ALG":"ES256"}"#,
    ] {
        header_refused(header);
    }
}

#[test]
fn a_token_without_signature_is_refused() {
    for header in [r#"{"alg":"none"}"#, r#"{"alg":"ES256"}"#] {
        refused(&format!("{}.{}.", base64url(header), base64url("{}")));
        refused(&format!("{}.{}", base64url(header), base64url("{}")));
    }
}

#[test]
fn an_hmac_with_the_public_key_is_refused() {
    // AUTH-X-19
    let [.., rsa] = keys();
    let secret = rsa.public_jwk().to_string();
    let signed = format!("{}.{}", base64url(r#"{"alg":"HS256"}"#), base64url("{}"));
    let hmac = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
    let tag = ring::hmac::sign(&hmac, signed.as_bytes());
    let token = format!("{signed}.{}", base64url(tag));
    assert!(Jws::parse(&token).is_err());
}

#[test]
fn an_algorithm_of_another_key_type_is_refused() {
    // AUTH-X-19
    let all = keys();
    for signer in &all {
        for named in &all {
            let name = named.algorithm().name();
            let header = json!({ "alg": name }).to_string();
            let token = token(signer, signer.algorithm(), &header, "{}");
            let result = Jws::parse(&token).unwrap().verify(signer.public_key());
            assert_eq!(result.is_ok(), signer.algorithm() == named.algorithm());
        }
    }
}

#[test]
fn malformed_signatures_are_refused() {
    // AUTH-X-19: r = s = 0, DER instead of two integers, and wrong lengths.
    let signed = format!("{}.{}", base64url(r#"{"alg":"ES256"}"#), base64url("{}"));
    let good = key()
        .signature(Algorithm::Es256, signed.as_bytes())
        .unwrap();
    let integer = |bytes: &[u8]| [&[2, 33, 0][..], bytes].concat();
    let (r, s) = good.split_at(32);
    let der = [&[0x30, 70][..], &integer(r), &integer(s)].concat();
    for signature in [
        vec![0; 64],
        vec![0xff; 64],
        der,
        good[..63].to_vec(),
        [&good[..], &[0]].concat(),
        [&[0], &good[..]].concat(),
        vec![1],
    ] {
        refused(&format!("{signed}.{}", base64url(signature)));
    }
}

#[test]
fn headers_that_change_the_meaning_are_refused() {
    // AUTH-X-20
    for member in [
        r#""crit":["exp"]"#,
        r#""crit":[]"#,
        r#""b64":false"#,
        r#""b64":true"#,
        r#""enc":"A128GCM""#,
        r#""zip":"DEF""#,
        r#""cty":"JWT""#,
        r#""cty":"application/jwt""#,
        r#""kid":1"#,
        r#""typ":[]"#,
        r#""alg":"ES256""#,
        r#""a":{"b":1,"b":2}"#,
        r#""a":1,"\u0061":1"#,
    ] {
        header_refused(&format!(r#"{{"alg":"ES256",{member}}}"#));
    }
}

#[test]
fn keys_of_the_header_are_ignored() {
    // AUTH-X-20: the signature is by the key in the header, and not by the configured one.
    let [_, other, ..] = keys();
    let jwk = other.public_jwk();
    for member in [
        format!(r#""jwk":{jwk}"#),
        r#""jku":"http://169.254.169.254/""#.to_owned(),
        r#""x5u":"http://169.254.169.254/""#.to_owned(),
        r#""x5c":["AAAA"]"#.to_owned(),
    ] {
        let header = format!(r#"{{"alg":"ES384",{member}}}"#);
        let token = token(&other, Algorithm::Es384, &header, "{}");
        assert!(
            Jws::parse(&token)
                .unwrap()
                .verify(key().public_key())
                .is_err()
        );
    }
}

#[test]
fn the_compact_form_is_exact() {
    // AUTH-X-20
    let good = token(&key(), Algorithm::Es256, r#"{"alg":"ES256"}"#, "{}");
    assert_eq!(
        Jws::parse(&good).unwrap().verify(key().public_key()),
        Ok(())
    );
    let parts: Vec<_> = good.split('.').collect();
    for bad in [
        String::new(),
        "..".to_owned(),
        format!("{good}."),
        format!("{good}.AA.AA"),
        format!(".{good}"),
        format!(" {good}"),
        format!("{good}\n"),
        format!("{good}="),
        format!("{}==.{}.{}", parts[0], parts[1], parts[2]),
        format!("{}.{}=.{}", parts[0], parts[1], parts[2]),
        good.replace('.', ".\n"),
    ] {
        refused(&bad);
    }
}

#[test]
fn trailing_bits_are_refused() {
    // `e31` and `e30` decode alike where parsers ignore the last bits: two texts of one token.
    let token = token(&key(), Algorithm::Es256, r#"{"alg":"ES256"}"#, "{}");
    assert!(token.contains(".e30."));
    assert!(Jws::parse(&token.replace(".e30.", ".e31.")).is_err());
}

#[test]
fn claims_are_one_object_of_bounded_depth() {
    // AUTH-R-37
    let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let parse = |payload: &str| {
        let token = token(&key(), Algorithm::Es256, r#"{"alg":"ES256"}"#, payload);
        Jws::parse(&token).map(|jws| jws.claims().len())
    };
    assert_eq!(parse(&nested(16)), Ok(1));
    for bad in [
        &*nested(17),
        &format!(r#"{{"a":{}1{}}}"#, "[".repeat(16), "]".repeat(16)),
        &"[".repeat(12_000),
        "",
        "[]",
        "null",
        "1",
        r#""text""#,
        "{} {}",
        r#"{"iss":"a","iss":"b"}"#,
        r#"{"a":[{"b":1,"b":1}]}"#,
        r#"{"a":NaN}"#,
        "\u{feff}{}",
        r#"{"a":"\ud800"}"#,
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_token_longer_than_16_kib_is_refused() {
    let long = |length: usize| {
        let payload = json!({ "a": "x".repeat(length) }).to_string();
        Jws::parse(&token(
            &key(),
            Algorithm::Es256,
            r#"{"alg":"ES256"}"#,
            &payload,
        ))
        .is_ok()
    };
    assert!(long(12_000));
    assert!(!long(12_300));
}

#[test]
fn times_are_numbers_of_seconds() {
    // AUTH-X-22
    let read = |json: &str| {
        let claims = super::object(serde_json::from_str(json).unwrap());
        numeric_date(&claims, "exp")
    };
    assert_eq!(read("{}"), Ok(None));
    assert_eq!(read(r#"{"exp":0}"#), Ok(Some(super::at(0))));
    assert_eq!(read(r#"{"exp":2e9}"#), Ok(Some(super::at(2_000_000_000))));
    assert!(read(r#"{"exp":1.5}"#).unwrap().unwrap() > super::at(1));
    for bad in [
        r#""2000000000""#,
        "-1",
        "-0.5",
        "1e308",
        "253402300800",
        "null",
        "true",
        "[1]",
        "{}",
        "18446744073709551615",
    ] {
        assert!(read(&format!(r#"{{"exp":{bad}}}"#)).is_err(), "{bad}");
    }
}

#[test]
fn texts_are_strings() {
    let read = |json: &str| {
        let claims = super::object(serde_json::from_str(json).unwrap());
        string(&claims, "sub").map(|text| text.map(str::to_owned))
    };
    assert_eq!(read("{}"), Ok(None));
    assert_eq!(read(r#"{"sub":"u"}"#), Ok(Some("u".to_owned())));
    for bad in ["null", "1", "[]", "{}"] {
        let error: JoseError = read(&format!(r#"{{"sub":{bad}}}"#)).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
}
