//! Access to the page: only for requests of this page, and only with its token.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, Method};
use ring::hmac::{self, HMAC_SHA256, Key, Tag};
use ring::rand::{SecureRandom, SystemRandom};

use super::redirect::RedirectFile;
use crate::exit::{Exit, Failure};

/// Number of random bytes of a token.
const TOKEN_BYTES: usize = 32;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Rules of access to the page and its interface.
///
/// The token is in the fragment of the URL, which browsers do not send. The page passes it in a header. A cookie would be sent to
/// every other port of this address.
pub(crate) struct Guard {
    port: u16,
    token: String,
    /// Key of the tags. Tags are compared in constant time.
    key: Key,
    token_tag: Tag,
    /// Code for the browser that this program opens, until it is used or expires.
    code: Mutex<Option<Code>>,
}

/// One-time code, with the file that contains it. The file is deleted with the code.
struct Code {
    tag: Tag,
    _file: RedirectFile,
}

/// Reason to refuse a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another host name: DNS rebinding, or a proxy.
    Host,
    /// A page of another origin.
    Origin,
    /// A missing or invalid token.
    Token,
}

impl Guard {
    pub(crate) fn new(port: u16) -> Result<Self, Failure> {
        let no_random = |_| Failure::new(Exit::Io, "no random numbers from the operating system");
        let key = Key::generate(HMAC_SHA256, &SystemRandom::new()).map_err(no_random)?;
        let token = random_text()?;
        let token_tag = hmac::sign(&key, token.as_bytes());
        Ok(Self {
            port,
            token,
            key,
            token_tag,
            code: Mutex::new(None),
        })
    }

    /// Returns the URL of the page, with its token.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/#token={}", self.port, self.token)
    }

    /// Returns a file that leads to the page with a code that is valid once. It replaces an earlier one.
    pub(crate) fn one_time_file(&self) -> Result<PathBuf, Failure> {
        let code = random_text()?;
        let url = format!("http://127.0.0.1:{}/#code={code}", self.port);
        let file = RedirectFile::create(&url).map_err(Failure::io("a temporary file"))?;
        let path = file.path().to_owned();
        let tag = hmac::sign(&self.key, code.as_bytes());
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = Some(Code { tag, _file: file });
        Ok(path)
    }

    /// Returns the token for a code that has not been used and has not expired.
    pub(crate) fn redeem(&self, code: &str) -> Option<&str> {
        let mut open = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        let tag = &open.as_ref()?.tag;
        hmac::verify(&self.key, code.as_bytes(), tag.as_ref()).ok()?;
        *open = None;
        Some(&self.token)
    }

    /// Makes the code invalid.
    pub(crate) fn expire_code(&self) {
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Checks that a request is for this page and sent by it, or by the user: host name, origin and site.
    pub(crate) fn check_source(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = only(headers, &HOST).ok_or(Refusal::Host)?;
        // Browsers omit the default port.
        let is_own = |name: &str| {
            host == format!("{name}:{}", self.port) || (self.port == 80 && host == name)
        };
        if !["127.0.0.1", "localhost"].into_iter().any(is_own) {
            return Err(Refusal::Host);
        }
        if headers.contains_key(ORIGIN) {
            let origin = only(headers, &ORIGIN).ok_or(Refusal::Origin)?;
            if origin.strip_prefix("http://") != Some(host) {
                return Err(Refusal::Origin);
            }
        }
        if headers.contains_key(FETCH_SITE) {
            // A link or a bookmark may open the page, which has no data without the token.
            let is_read = method == Method::GET && !headers.contains_key(AUTHORIZATION);
            let site = only(headers, &FETCH_SITE).ok_or(Refusal::Origin)?;
            if site != "same-origin" && !is_read {
                return Err(Refusal::Origin);
            }
        }
        Ok(())
    }

    /// Checks the token of a request to the interface.
    pub(crate) fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let given = only(headers, &AUTHORIZATION).and_then(|it| it.strip_prefix("Bearer "));
        let given = given.ok_or(Refusal::Token)?;
        hmac::verify(&self.key, given.as_bytes(), self.token_tag.as_ref())
            .map_err(|_| Refusal::Token)
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Guard");
        shown.field("port", &self.port).finish_non_exhaustive()
    }
}

/// Returns the value of a header that is present once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn random_text() -> Result<String, Failure> {
    let mut bytes = [0; TOKEN_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Failure::new(Exit::Io, "no random numbers from the operating system"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn headers(values: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn source(method: &Method, values: &[(&'static str, &str)]) -> Result<(), Refusal> {
        Guard::new(4000)
            .unwrap()
            .check_source(method, &headers(values))
    }

    #[test]
    fn other_hosts_are_refused() {
        for host in ["127.0.0.1:4000", "localhost:4000"] {
            assert_eq!(source(&Method::GET, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example:4000",
            "127.0.0.1",
            "127.0.0.1:4001",
            "127.0.0.1:4000.evil.example",
        ] {
            let refused = source(&Method::GET, &[("host", host)]);
            assert_eq!(refused, Err(Refusal::Host), "{host}");
        }
        assert_eq!(source(&Method::GET, &[]), Err(Refusal::Host));
        let two = [("host", "127.0.0.1:4000"), ("host", "127.0.0.1:4000")];
        assert_eq!(source(&Method::GET, &two), Err(Refusal::Host));
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let host = ("host", "127.0.0.1:4000");
        let accepted = source(&Method::POST, &[host, ("origin", "http://127.0.0.1:4000")]);
        assert_eq!(accepted, Ok(()));
        for origin in [
            "http://evil.example",
            "http://localhost:4000",
            "http://127.0.0.1:3000",
            "https://127.0.0.1:4000",
            "null",
        ] {
            let refused = source(&Method::POST, &[host, ("origin", origin)]);
            assert_eq!(refused, Err(Refusal::Origin), "{origin}");
        }
        for site in ["same-site", "cross-site", "none"] {
            let refused = source(&Method::POST, &[host, ("sec-fetch-site", site)]);
            assert_eq!(refused, Err(Refusal::Origin), "{site}");
        }
        assert_eq!(
            source(&Method::GET, &[host, ("sec-fetch-site", "cross-site")]),
            Ok(())
        );
    }

    #[test]
    fn the_interface_requires_the_token() {
        let guard = Guard::new(4000).unwrap();
        let url = guard.url();
        let token = url.split_once("token=").unwrap().1;
        let check = |value: &str| guard.check_token(&headers(&[("authorization", value)]));
        assert_eq!(check(&format!("Bearer {token}")), Ok(()));
        for wrong in ["Bearer ", "Bearer x", token, &format!("Bearer {token}x")] {
            assert_eq!(check(wrong), Err(Refusal::Token), "{wrong}");
        }
        assert_eq!(guard.check_token(&HeaderMap::new()), Err(Refusal::Token));
        assert!(!format!("{guard:?}").contains(token));
    }

    /// Returns the code in a file.
    fn code_of(file: &Path) -> String {
        let text = fs::read_to_string(file).unwrap();
        let (_, rest) = text.split_once("#code=").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    #[test]
    fn a_code_is_valid_once() {
        let guard = Guard::new(4000).unwrap();
        assert_eq!(guard.redeem(""), None);
        let file = guard.one_time_file().unwrap();
        let code = code_of(&file);
        assert_eq!(guard.redeem("x"), None);
        assert!(file.exists());
        let token = guard.redeem(&code).unwrap().to_owned();
        assert!(guard.url().ends_with(&token));
        assert_eq!(guard.redeem(&code), None);
        assert!(!file.exists());
    }

    #[test]
    fn an_expired_code_is_invalid() {
        let guard = Guard::new(4000).unwrap();
        let file = guard.one_time_file().unwrap();
        let code = code_of(&file);
        guard.expire_code();
        assert_eq!(guard.redeem(&code), None);
        assert!(!file.exists());
    }
}
