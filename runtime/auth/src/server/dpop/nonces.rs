//! Nonces of DPoP proofs without state: each is a time with its seal.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

use crate::AuthError;
use crate::server::LEEWAY;

/// Time for which a nonce is valid.
const LIFETIME: Duration = Duration::from_secs(300);

/// Bytes of the time in a nonce.
const TIME_BYTES: usize = 8;

/// Issuer of nonces.
#[derive(Clone)]
pub(super) struct Nonces(hmac::Key);

impl Nonces {
    pub(super) fn new(key: &[u8]) -> Result<Self, AuthError> {
        if key.len() < 32 {
            let reason = "the key of DPoP nonces has fewer than 32 bytes; use random ones";
            return Err(AuthError::invalid(reason));
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, key)))
    }

    /// Returns the nonce of this time.
    pub(super) fn issue(&self, now: SystemTime) -> String {
        let mut nonce = seconds(now).to_be_bytes().to_vec();
        let seal = hmac::sign(&self.0, &nonce);
        nonce.extend_from_slice(seal.as_ref());
        URL_SAFE_NO_PAD.encode(nonce)
    }

    /// Returns true if a server with this key has issued a nonce, and it has not expired.
    pub(super) fn is_valid(&self, nonce: &str, now: SystemTime) -> bool {
        let Ok(nonce) = URL_SAFE_NO_PAD.decode(nonce) else {
            return false;
        };
        let Some((time, seal)) = nonce.split_first_chunk::<TIME_BYTES>() else {
            return false;
        };
        let (now, issued) = (seconds(now), u64::from_be_bytes(*time));
        let is_fresh = now.saturating_sub(issued) <= LIFETIME.as_secs()
            && issued.saturating_sub(now) <= LEEWAY.as_secs();
        is_fresh && hmac::verify(&self.0, time, seal).is_ok()
    }
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonces_are_valid_for_their_lifetime_and_server() {
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let nonces = Nonces::new(&[1; 32]).unwrap();
        let nonce = nonces.issue(now);
        assert!(nonces.is_valid(&nonce, now), "AUTH-R-65");
        assert!(nonces.is_valid(&nonce, now + LIFETIME));
        assert!(!nonces.is_valid(&nonce, now + LIFETIME + Duration::from_secs(1)));
        // The clock of another replica is behind.
        assert!(nonces.is_valid(&nonce, now - LEEWAY));
        assert!(!nonces.is_valid(&nonce, now - LEEWAY - Duration::from_secs(1)));
        let other = Nonces::new(&[2; 32]).unwrap();
        assert!(!other.is_valid(&nonce, now), "AUTH-X-34");
        for wrong in [
            "",
            "x",
            &nonce[1..],
            &format!("{nonce}A"),
            &nonce.replace('A', "B"),
        ] {
            assert!(!nonces.is_valid(wrong, now), "{wrong}");
        }
        assert!(Nonces::new(&[0; 31]).is_err());
    }
}
