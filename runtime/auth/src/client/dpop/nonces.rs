//! Nonces of servers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, Uri};

const HEADER: &str = "dpop-nonce";
/// Maximum length of a nonce, in bytes.
const MAX_LENGTH: usize = 1024;
/// Maximum number of origins. A hostile server may name many authorization servers.
const MAX_ORIGINS: usize = 64;

/// Last nonce of each origin.
#[derive(Debug, Default)]
pub(crate) struct Nonces(Mutex<HashMap<String, Arc<str>>>);

impl Nonces {
    /// Notes the nonce of a response, and returns true if it has one. One with other characters is ignored.
    pub(crate) fn observe(&self, url: &Uri, response: &HeaderMap) -> bool {
        let values = response.get_all(HEADER);
        let mut values = values.iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        let Some(nonce) = value.to_str().ok().filter(|nonce| is_nonce(nonce)) else {
            return false;
        };
        let (origin, mut nonces) = (origin(url), self.nonces());
        if nonces.len() >= MAX_ORIGINS && !nonces.contains_key(&origin) {
            nonces.clear();
        }
        nonces.insert(origin, nonce.into());
        true
    }

    /// Returns the nonce for requests to the origin of a URL.
    pub(crate) fn of(&self, url: &Uri) -> Option<Arc<str>> {
        self.nonces().get(&origin(url)).cloned()
    }

    fn nonces(&self) -> MutexGuard<'_, HashMap<String, Arc<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true for the characters of a nonce (RFC 9449, section 8.1).
fn is_nonce(text: &str) -> bool {
    let is_allowed = |byte| matches!(byte, b'\x21' | b'\x23'..=b'\x5b' | b'\x5d'..=b'\x7e');
    (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(is_allowed)
}

fn origin(url: &Uri) -> String {
    let scheme = url.scheme_str().unwrap_or_default();
    let host = url.host().unwrap_or_default();
    let port = url
        .port_u16()
        .unwrap_or(if scheme == "https" { 443 } else { 80 });
    format!("{scheme}://{host}:{port}").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn response(nonce: &str) -> HeaderMap {
        let value = HeaderValue::from_str(nonce).expect("a value");
        HeaderMap::from_iter([(http::HeaderName::from_static(HEADER), value)])
    }

    // AUTH-C-155
    #[test]
    fn nonces_belong_to_origins() {
        let nonces = Nonces::default();
        let url = |text: &'static str| Uri::from_static(text);
        nonces.observe(&url("https://A.example/token"), &response("one"));
        assert_eq!(
            nonces.of(&url("https://a.example:443/mcp")).as_deref(),
            Some("one")
        );
        for other in [
            "http://a.example",
            "https://a.example:8443",
            "https://b.example",
        ] {
            assert_eq!(nonces.of(&url(other)), None);
        }
        nonces.observe(&url("https://a.example"), &response("two"));
        nonces.observe(&url("https://a.example"), &HeaderMap::new());
        assert_eq!(nonces.of(&url("https://a.example")).as_deref(), Some("two"));
    }

    // AUTH-X-14
    #[test]
    fn malformed_nonces_are_ignored_and_their_number_is_bounded() {
        let nonces = Nonces::default();
        let url = Uri::from_static("https://a.example");
        for nonce in ["", "a b", "a\"b", "a\\b", &"x".repeat(MAX_LENGTH + 1)] {
            nonces.observe(&url, &response(nonce));
        }
        let mut two = response("one");
        two.append(HEADER, HeaderValue::from_static("two"));
        nonces.observe(&url, &two);
        assert_eq!(nonces.of(&url), None);
        for number in 0..1000 {
            let url = format!("https://{number}.example").parse().expect("a URL");
            nonces.observe(&url, &response("x"));
        }
        assert!(nonces.nonces().len() <= MAX_ORIGINS);
    }
}
