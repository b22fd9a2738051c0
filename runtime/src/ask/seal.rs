//! Sealing of the state that a client carries from one round of a request to the next.
//!
//! A state is encrypted and authenticated by ChaCha20-Poly1305 (RFC 8439). Every state has a key of its own, derived by
//! HKDF-SHA256 (RFC 5869) from the key of the server and 256 random bits, so that any number of states may be sealed by any
//! number of replicas that share the key.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

use crate::environment;
use crate::error::Error;

/// Purpose of the derived keys; the number is the version of the format.
const INFO: &[&[u8]] = &[b"treenail request state 1"];
const SALT: usize = 32;

/// Secret key that seals the state of clients between the rounds of a request, see
/// [`ServerBuilder::request_state_key`](crate::ServerBuilder::request_state_key).
///
/// By default, a server makes a random key. Replicas of a server need a common key of 32 random bytes. Its text is base64, as
/// written by `openssl rand -base64 32`:
///
/// ```
/// use treenail::Server;
/// use treenail::elicit::RequestStateKey;
///
/// // From your secret store, such as an environment variable.
/// let text = "kJpHhmlYJw5cQ1cPCs2xCkm8JvFMi7YHo4bWzKQJ9/I=";
/// let key: RequestStateKey = text.parse()?;
/// let server = Server::builder("demo", "1.0.0").request_state_key(key).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// Replace the key of running replicas in three steps, so that every replica accepts every state: give all replicas
/// `old.or(new)`, then `new.or(old)`, and finally `new`. Before the last step, wait until the states of the old key have expired:
/// for [`Limits::elicitation_timeout`](crate::Limits::elicitation_timeout), and for the longest run time of external tasks with a
/// key of tokens.
#[derive(Clone)]
pub struct RequestStateKey {
    current: [u8; 32],
    /// Former keys, whose states are still accepted.
    former: Vec<[u8; 32]>,
}

impl fmt::Debug for RequestStateKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RequestStateKey")
            .finish_non_exhaustive()
    }
}

impl FromStr for RequestStateKey {
    type Err = Error;

    /// Reads 32 bytes in base64, in either alphabet, with or without padding, and with surrounding white space.
    #[inline]
    fn from_str(text: &str) -> Result<Self, Error> {
        const LENIENT: GeneralPurposeConfig =
            GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let alphabet = if text.contains(['-', '_']) {
            alphabet::URL_SAFE
        } else {
            alphabet::STANDARD
        };
        let bytes = GeneralPurpose::new(&alphabet, LENIENT).decode(text.trim());
        let key = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        // A more precise message would reveal parts of the key.
        key.map(Self::new)
            .ok_or_else(|| Error::Build("a request state key is 32 bytes in base64".to_owned()))
    }
}

impl RequestStateKey {
    /// Makes a key from 32 random bytes.
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            current: key,
            former: Vec::new(),
        }
    }

    /// Makes a key from the random source of the operating system.
    pub(crate) fn random() -> Result<Self, SealError> {
        Ok(Self::new(random()?))
    }

    /// Also accepts states that `former` has sealed, to replace a key while clients hold states.
    #[must_use]
    #[inline]
    pub fn or(mut self, former: Self) -> Self {
        self.former.push(former.current);
        self.former.extend(former.former);
        self
    }

    /// Seals `state` for the request with the digest `scope`.
    pub(crate) fn seal(&self, scope: &[u8], mut state: Vec<u8>) -> Result<String, SealError> {
        let salt: [u8; SALT] = random()?;
        derive(&self.current, &salt)?
            .seal_in_place_append_tag(nonce(), Aad::from(scope), &mut state)
            .map_err(|_| SealError)?;
        let mut sealed = salt.to_vec();
        sealed.append(&mut state);
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Opens a state that one of the keys has sealed for the same `scope`.
    pub(crate) fn open(&self, scope: &[u8], sealed: &str) -> Result<Vec<u8>, SealError> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| SealError)?;
        let (salt, sealed) = sealed.split_first_chunk::<SALT>().ok_or(SealError)?;
        let keys = std::iter::once(&self.current).chain(&self.former);
        keys.map(|key| {
            let mut state = sealed.to_vec();
            let length = derive(key, salt)?
                .open_in_place(nonce(), Aad::from(scope), &mut state)
                .map_err(|_| SealError)?
                .len();
            state.truncate(length);
            Ok(state)
        })
        .find(Result::is_ok)
        .unwrap_or(Err(SealError))
    }
}

/// Error of sealing or opening. It has no reason, which would help an attacker.
#[doc(hidden)]
#[derive(Debug)]
pub struct SealError;

/// Error message for [`SealError`] where it can have only one cause.
#[doc(hidden)]
pub const NO_RANDOM_BYTES: &str = "could not obtain random bytes from the operating system";

/// Returns a random, unique id that cannot be guessed.
#[doc(hidden)]
pub fn random_id() -> Result<String, SealError> {
    random::<16>().map(|bytes| URL_SAFE_NO_PAD.encode(bytes))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], SealError> {
    let mut bytes = [0; N];
    environment::fill_random(&mut bytes).map_err(|_| SealError)?;
    Ok(bytes)
}

fn derive(key: &[u8; 32], salt: &[u8; SALT]) -> Result<LessSafeKey, SealError> {
    Salt::new(HKDF_SHA256, salt)
        .extract(key)
        .expand(INFO, &CHACHA20_POLY1305)
        .map(|derived| LessSafeKey::new(UnboundKey::from(derived)))
        .map_err(|_| SealError)
}

/// A constant nonce is safe, because each derived key seals one state only.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_opens_for_its_scope_and_keys_only() {
        let key = RequestStateKey::new([1; 32]);
        let sealed = key.seal(b"scope", b"state".to_vec()).expect("sealed");
        assert_eq!(key.open(b"scope", &sealed).expect("opened"), b"state");
        assert!(key.open(b"other", &sealed).is_err());
        assert!(
            RequestStateKey::new([2; 32])
                .open(b"scope", &sealed)
                .is_err()
        );
        let replaced = RequestStateKey::new([2; 32]).or(key.clone());
        assert_eq!(replaced.open(b"scope", &sealed).expect("opened"), b"state");
        assert_ne!(
            sealed,
            key.seal(b"scope", b"state".to_vec()).expect("sealed")
        );
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let key = RequestStateKey::random().expect("random");
        let sealed = key.seal(b"scope", b"state".to_vec()).expect("sealed");
        for index in 0..sealed.len() {
            let mut text = sealed.clone().into_bytes();
            text[index] = if text[index] == b'A' { b'B' } else { b'A' };
            let text = String::from_utf8(text).expect("ASCII");
            assert!(key.open(b"scope", &text).is_err(), "{text}");
            assert!(key.open(b"scope", &sealed[..index]).is_err());
        }
        assert!(key.open(b"scope", &format!("{sealed}A")).is_err());
    }

    #[test]
    fn a_key_is_read_from_text() {
        let sealed = RequestStateKey::new([0xfb; 32]).seal(b"scope", b"state".to_vec());
        let sealed = sealed.expect("sealed");
        let padded = format!("{}+/s=", "+/v7".repeat(10));
        for text in [
            &*padded,
            padded.trim_end_matches('='),
            &format!("\n {padded}\n"),
            &padded.replace('+', "-").replace('/', "_"),
        ] {
            let key: RequestStateKey = text.parse().expect("it is 32 bytes");
            assert!(key.open(b"scope", &sealed).is_ok(), "{text}");
        }
        let long = format!("{}{padded}", "AAAA");
        for text in ["", "AAAA", "?", &padded[..42], &long, &padded.repeat(2)] {
            let error = text.parse::<RequestStateKey>().expect_err(text);
            assert_eq!(
                error.to_string(),
                "a request state key is 32 bytes in base64"
            );
        }
    }

    #[test]
    fn a_key_does_not_show_itself() {
        assert_eq!(
            format!("{:?}", RequestStateKey::new([9; 32])),
            "RequestStateKey { .. }"
        );
    }
}
