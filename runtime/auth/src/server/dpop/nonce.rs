//! Nonces without memory: a time, authenticated by HMAC-SHA256.

use std::time::{Duration, SystemTime};

use ring::hmac::{HMAC_SHA256, Key, sign, verify};
use ring::rand::{SecureRandom, SystemRandom};

use super::DpopRefusal;
use crate::AuthError;
use crate::jose::{base64url, base64url_decode};

/// Time for which a nonce is valid.
const VALIDITY: Duration = Duration::from_secs(300);
/// Age from which a response carries the next nonce.
const RENEWAL: Duration = Duration::from_secs(150);
/// Purpose of the key; the number is the version of the format.
const PURPOSE: &[u8] = b"treenail dpop nonce 1";
/// Bytes of the time.
const TIME: usize = 8;

/// Maker of the nonces of a server.
#[derive(Clone)]
pub(super) struct Nonces {
    key: Key,
}

impl Nonces {
    /// Uses a random key.
    pub(super) fn random() -> Result<Self, AuthError> {
        let mut key = [0; 32];
        let no_random = |_| AuthError::Unavailable("the system has no random numbers".into());
        SystemRandom::new().fill(&mut key).map_err(no_random)?;
        Ok(Self::new(key))
    }

    pub(super) fn new(key: [u8; 32]) -> Self {
        Self {
            key: Key::new(HMAC_SHA256, &key),
        }
    }

    /// Returns the nonce of a time.
    fn make(&self, now: SystemTime) -> String {
        let since = now.duration_since(SystemTime::UNIX_EPOCH);
        let time = since.unwrap_or_default().as_secs().to_be_bytes();
        let tag = sign(&self.key, &[PURPOSE, &time].concat());
        base64url([&time, tag.as_ref()].concat())
    }

    /// Checks the nonce of a proof. Returns the next one if it will expire soon.
    pub(super) fn check(
        &self,
        nonce: Option<&str>,
        now: SystemTime,
    ) -> Result<Option<String>, DpopRefusal> {
        let age = nonce.and_then(|nonce| self.age(nonce, now));
        match age {
            Some(age) if age <= RENEWAL => Ok(None),
            Some(age) if age <= VALIDITY => Ok(Some(self.make(now))),
            _ => Err(DpopRefusal::UseNonce(self.make(now))),
        }
    }

    /// Returns the age of a nonce of this server. One from the future, made by a replica with another clock, has age zero.
    fn age(&self, nonce: &str, now: SystemTime) -> Option<Duration> {
        let bytes = base64url_decode(nonce).ok()?;
        let (time, tag) = bytes.split_at_checked(TIME)?;
        verify(&self.key, &[PURPOSE, time].concat(), tag).ok()?;
        let time = Duration::from_secs(u64::from_be_bytes(time.try_into().ok()?));
        let made_at = SystemTime::UNIX_EPOCH.checked_add(time)?;
        Some(now.duration_since(made_at).unwrap_or_default())
    }
}
