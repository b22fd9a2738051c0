//! Changed redirects: reading never panics, and yields a code only if all checks hold.

use super::request::FlowRecord;
use super::request::tests::record;
use super::response::read_code;
use crate::mutation::mutate;

const ROUNDS: usize = 20_000;
const PLACE: &str = "http://127.0.0.1:4000/callback?";
const ISSUER: &str = "https://auth.example.com";

/// Returns the values of a parameter, by another way than the reader's.
fn values(query: &str, name: &str) -> Vec<String> {
    let query = query.split('#').next().unwrap_or_default();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let named = pairs.filter(|(found, _)| decode(found) == name);
    named.map(|(_, value)| decode(value)).collect()
}

fn decode(text: &str) -> String {
    let text = text.replace('+', " ").into_bytes();
    let (mut bytes, mut index) = (Vec::new(), 0);
    while index < text.len() {
        let escape = text.get(index + 1..index + 3).and_then(|digits| {
            let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
            let digits = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
            u8::from_str_radix(digits, 16).ok()
        });
        let escape = escape.filter(|_| text[index] == b'%');
        bytes.push(escape.unwrap_or(text[index]));
        index += if escape.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_changed_redirect_yields_a_code_only_of_its_flow_and_issuer() {
    let mut random = fastrand::Rng::with_seed(13);
    let mut accepted = 0;
    for round in 0..ROUNDS {
        let record = FlowRecord {
            requires_issuer: round % 2 == 0,
            ..record()
        };
        let query = "code=c1&state=state-of-this-flow&iss=https%3A%2F%2Fauth.example.com";
        let redirect = mutate(&mut random, &format!("{PLACE}{query}"));
        let Ok(code) = read_code(&redirect, &record) else {
            continue;
        };
        accepted += 1;
        let query = redirect.strip_prefix(PLACE);
        let query = query.unwrap_or_else(|| panic!("AUTH-C-82: {redirect:?}"));
        assert_eq!(
            values(query, "state"),
            ["state-of-this-flow"],
            "{redirect:?}"
        );
        assert_eq!(
            values(query, "code"),
            [code.expose()],
            "AUTH-C-89: {redirect:?}"
        );
        assert!(values(query, "error").is_empty(), "AUTH-C-89: {redirect:?}");
        match values(query, "iss").as_slice() {
            [] => assert!(!record.requires_issuer, "AUTH-C-85: {redirect:?}"),
            issuers => assert_eq!(issuers, [ISSUER], "AUTH-C-84: {redirect:?}"),
        }
    }
    assert!(accepted > 100, "some changes are harmless: {accepted}");
}
