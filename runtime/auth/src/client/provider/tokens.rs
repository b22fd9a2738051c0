//! Tokens in use, and the headers that carry them.

use std::time::{Duration, SystemTime};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Uri};

use crate::client::dpop::DpopKey;
use crate::client::store::{Generation, ServerRecord, StoreKey, TokenRecord};
use crate::{AuthError, Scopes, Secret};

/// Longest time before the expiry at which tokens are renewed.
const MARGIN: Duration = Duration::from_secs(30);

/// Tokens in use, with the authorization that they belong to.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    pub(super) binding: ServerRecord,
    pub(super) key: StoreKey,
    pub(super) generation: Generation,
    pub(super) record: TokenRecord,
    /// The key that the access token is bound to.
    pub(super) dpop: Option<DpopKey>,
    /// False after the store has failed: the tokens are in this process only.
    pub(super) is_stored: bool,
}

impl Tokens {
    /// Returns true shortly before the expiry: 30 seconds, or half of a shorter lifetime.
    pub(super) fn expires_soon(&self, now: SystemTime) -> bool {
        let Some(expires_at) = self.record.expires_at else {
            return false;
        };
        let lifetime = expires_at.duration_since(self.record.issued_at);
        let margin = MARGIN.min(lifetime.unwrap_or_default() / 2);
        now.checked_add(margin)
            .is_none_or(|then| then >= expires_at)
    }

    pub(super) fn is_expired(&self, now: SystemTime) -> bool {
        self.record.expires_at.is_some_and(|end| now >= end)
    }

    /// Returns all scopes that were asked for or granted.
    pub(super) fn scopes(&self) -> Scopes {
        self.record.asked.union(&self.record.granted)
    }

    /// Sets the header `Authorization`, and adds a proof if the token is bound to a key.
    pub(super) fn add_to(
        &self,
        request: (&str, &Uri),
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        let token = &self.record.access_token;
        match &self.dpop {
            None => insert_token("Bearer", token, headers),
            Some(key) => {
                insert_token("DPoP", token, headers)?;
                key.prove(request, Some(token), headers)
            }
        }
    }
}

/// Sets the header `Authorization` with a token of this scheme.
pub(super) fn insert_token(
    scheme: &str,
    token: &Secret,
    headers: &mut HeaderMap,
) -> Result<(), AuthError> {
    let is_token =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    let value = Some(token.expose()).filter(|text| is_token(text));
    let value = value.and_then(|token| HeaderValue::try_from(format!("{scheme} {token}")).ok());
    let invalid =
        || AuthError::invalid("the access token contains a character that cannot be sent");
    let mut value = value.ok_or_else(invalid)?;
    value.set_sensitive(true);
    headers.insert(AUTHORIZATION, value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::store::TokenType;

    fn tokens(lifetime: Option<u64>) -> Tokens {
        let issued_at = SystemTime::UNIX_EPOCH;
        Tokens {
            binding: ServerRecord {
                resource: None,
                issuer: String::new(),
                client_id: String::new(),
            },
            key: StoreKey::server(""),
            generation: Generation::random().unwrap(),
            record: TokenRecord {
                access_token: "canary".into(),
                token_type: TokenType::Bearer,
                issued_at,
                expires_at: lifetime.map(|seconds| issued_at + Duration::from_secs(seconds)),
                refresh_token: Some("canary".into()),
                asked: Scopes::default(),
                granted: Scopes::default(),
            },
            dpop: None,
            is_stored: true,
        }
    }

    /// AUTH-C-113
    #[test]
    fn tokens_are_renewed_before_they_expire_but_not_for_each_call() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let hour = tokens(Some(3600));
        assert!(!hour.expires_soon(at(3569)) && hour.expires_soon(at(3570)));
        let short = tokens(Some(10));
        assert!(!short.expires_soon(at(0)) && !short.expires_soon(at(4)));
        assert!(short.expires_soon(at(5)) && !short.is_expired(at(9)));
        assert!(!tokens(None).expires_soon(at(u64::from(u32::MAX))));
    }

    #[test]
    fn tokens_are_hidden() {
        let tokens = tokens(Some(1));
        let mut headers = HeaderMap::new();
        let url = Uri::from_static("https://example.com");
        tokens.add_to(("POST", &url), &mut headers).unwrap();
        let text = format!("{tokens:?} {headers:?}");
        assert!(!text.contains("canary"), "{text}");
        assert_eq!(headers[AUTHORIZATION], "Bearer canary");
        assert!(insert_token("Bearer", &"a\r\nb".into(), &mut headers).is_err());
    }
}
