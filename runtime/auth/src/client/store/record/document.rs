//! JSON of the records. Only this file serializes secrets.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{DpopKeyRecord, RegistrationRecord, ServerRecord, TokenRecord, TokenType};
use crate::{Scopes, Secret};

const VERSION: u32 = 1;
/// Room for any usual entry, so that no reallocation leaves a copy of a secret in memory.
const CAPACITY: usize = 64 * 1024;

/// A record with a versioned JSON form.
pub(crate) trait Document: Sized {
    /// Returns the JSON text.
    fn to_json(&self) -> Secret;

    /// Reads a JSON text. `None` if it has another version or form.
    fn from_json(text: &str) -> Option<Self>;
}

#[derive(Serialize, Deserialize)]
struct Tokens<'a> {
    version: u32,
    access_token: Cow<'a, str>,
    token_type: Cow<'a, str>,
    issued_at: u64,
    expires_at: Option<u64>,
    refresh_token: Option<Cow<'a, str>>,
    asked: String,
    granted: String,
}

impl Document for TokenRecord {
    fn to_json(&self) -> Secret {
        to_secret(&Tokens {
            version: VERSION,
            access_token: self.access_token.expose().into(),
            token_type: self.token_type.as_str().into(),
            issued_at: to_seconds(self.issued_at),
            expires_at: self.expires_at.map(to_seconds),
            refresh_token: self
                .refresh_token
                .as_ref()
                .map(|token| token.expose().into()),
            asked: self.asked.to_string(),
            granted: self.granted.to_string(),
        })
    }

    fn from_json(text: &str) -> Option<Self> {
        let tokens: Tokens<'_> = serde_json::from_str(text).ok()?;
        let access_token = to_owned_secret(tokens.access_token);
        let refresh_token = tokens.refresh_token.map(to_owned_secret);
        (tokens.version == VERSION).then_some(())?;
        Some(Self {
            access_token,
            token_type: TokenType::of(&tokens.token_type)?,
            issued_at: to_time(tokens.issued_at),
            expires_at: tokens.expires_at.map(to_time),
            refresh_token,
            asked: Scopes::from_record(&tokens.asked)?,
            granted: Scopes::from_record(&tokens.granted)?,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Registration<'a> {
    version: u32,
    client_id: Cow<'a, str>,
    client_secret: Option<Cow<'a, str>>,
    secret_expires_at: Option<u64>,
    auth_method: Option<Cow<'a, str>>,
    redirect_uris: Cow<'a, [String]>,
}

impl Document for RegistrationRecord {
    fn to_json(&self) -> Secret {
        to_secret(&Registration {
            version: VERSION,
            client_id: self.client_id.as_str().into(),
            client_secret: self
                .client_secret
                .as_ref()
                .map(|secret| secret.expose().into()),
            secret_expires_at: self.secret_expires_at.map(to_seconds),
            auth_method: self.auth_method.as_deref().map(Into::into),
            redirect_uris: self.redirect_uris.as_slice().into(),
        })
    }

    fn from_json(text: &str) -> Option<Self> {
        let registration: Registration<'_> = serde_json::from_str(text).ok()?;
        let client_secret = registration.client_secret.map(to_owned_secret);
        (registration.version == VERSION).then_some(())?;
        Some(Self {
            client_id: registration.client_id.into_owned(),
            client_secret,
            secret_expires_at: registration.secret_expires_at.map(to_time),
            auth_method: registration.auth_method.map(Cow::into_owned),
            redirect_uris: registration.redirect_uris.into_owned(),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct DpopKey<'a> {
    version: u32,
    algorithm: Cow<'a, str>,
    pkcs8: Cow<'a, str>,
}

impl Document for DpopKeyRecord {
    fn to_json(&self) -> Secret {
        to_secret(&DpopKey {
            version: VERSION,
            algorithm: self.algorithm.as_str().into(),
            pkcs8: self.pkcs8.expose().into(),
        })
    }

    fn from_json(text: &str) -> Option<Self> {
        let key: DpopKey<'_> = serde_json::from_str(text).ok()?;
        let pkcs8 = to_owned_secret(key.pkcs8);
        (key.version == VERSION).then_some(())?;
        let algorithm = key.algorithm.into_owned();
        Some(Self { algorithm, pkcs8 })
    }
}

#[derive(Serialize, Deserialize)]
struct Server<'a> {
    version: u32,
    resource: Option<Cow<'a, str>>,
    issuer: Cow<'a, str>,
    client_id: Cow<'a, str>,
}

impl Document for ServerRecord {
    fn to_json(&self) -> Secret {
        to_secret(&Server {
            version: VERSION,
            resource: self.resource.as_deref().map(Into::into),
            issuer: self.issuer.as_str().into(),
            client_id: self.client_id.as_str().into(),
        })
    }

    fn from_json(text: &str) -> Option<Self> {
        let server: Server<'_> = serde_json::from_str(text).ok()?;
        (server.version == VERSION).then_some(())?;
        Some(Self {
            resource: server.resource.map(Cow::into_owned),
            issuer: server.issuer.into_owned(),
            client_id: server.client_id.into_owned(),
        })
    }
}

impl TokenType {
    fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }

    fn of(text: &str) -> Option<Self> {
        [Self::Bearer, Self::Dpop]
            .into_iter()
            .find(|token_type| token_type.as_str().eq_ignore_ascii_case(text))
    }
}

fn to_secret(document: &impl Serialize) -> Secret {
    let mut bytes = Vec::with_capacity(CAPACITY);
    let written = serde_json::to_writer(&mut bytes, document);
    debug_assert!(written.is_ok(), "documents have text keys only");
    Secret::from(String::from_utf8(bytes).unwrap_or_default())
}

/// Moves the text, so that it is overwritten on drop.
fn to_owned_secret(text: Cow<'_, str>) -> Secret {
    Secret::from(text.into_owned())
}

fn to_seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Times that a platform cannot represent are clamped to the epoch, and thus expired.
fn to_time(seconds: u64) -> SystemTime {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<R: Document + std::fmt::Debug>(record: &R) {
        let json = record.to_json();
        let read = R::from_json(json.expose()).expect("the same record");
        assert_eq!(read.to_json().expose(), json.expose());
        let other_version = json.expose().replace("\"version\":1", "\"version\":2");
        assert!(R::from_json(&other_version).is_none());
        assert!(R::from_json(&json.expose()[1..]).is_none());
    }

    #[test]
    fn records_survive_their_json_and_other_versions_are_ignored() {
        check(&TokenRecord {
            access_token: "a\"\\".into(),
            token_type: TokenType::Dpop,
            issued_at: to_time(1_000),
            expires_at: Some(to_time(u64::MAX)),
            refresh_token: Some("r".into()),
            asked: "a b".parse().expect("scopes"),
            granted: "a".parse().expect("scopes"),
        });
        check(&RegistrationRecord {
            client_id: "c".to_owned(),
            client_secret: Some("s".into()),
            secret_expires_at: None,
            auth_method: Some("none".to_owned()),
            redirect_uris: vec!["http://127.0.0.1/callback".to_owned()],
        });
        check(&DpopKeyRecord {
            algorithm: "ES256".to_owned(),
            pkcs8: "k".into(),
        });
        check(&ServerRecord {
            resource: None,
            issuer: "i".to_owned(),
            client_id: "c".to_owned(),
        });
    }
}
