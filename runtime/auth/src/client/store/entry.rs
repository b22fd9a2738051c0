//! Entry of a store, and the generation that identifies it.

use std::fmt;
use std::str::FromStr;

use ring::rand::{SecureRandom, SystemRandom};

use crate::{AuthError, Secret};

/// Text of a store with its generation.
#[cfg(feature = "oauth")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredEntry {
    /// Identity of this entry. Each stored entry has another one, also after a deletion.
    pub generation: Generation,
    /// The text: JSON with a version, at most 1 MiB. It contains secrets.
    pub text: Secret,
}

impl StoredEntry {
    /// Maximum length of the text, in bytes.
    pub(crate) const MAX: usize = 1 << 20;

    /// Returns an entry as it was stored, for implementations of [`TokenStore::load`](super::TokenStore::load).
    pub fn new(generation: Generation, text: Secret) -> Self {
        Self { generation, text }
    }
}

/// Identity of a stored entry: 128 random bits, written as 32 hexadecimal digits.
///
/// ```
/// use treenail::auth::Generation;
///
/// let generation: Generation = "00112233445566778899aabbccddeeff".parse()?;
/// assert_eq!(generation.to_string(), "00112233445566778899aabbccddeeff");
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
#[cfg(feature = "oauth")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Generation(u128);

impl Generation {
    /// Returns a random generation.
    pub(crate) fn random() -> Result<Self, AuthError> {
        let mut bytes = [0; 16];
        let filled = SystemRandom::new().fill(&mut bytes);
        let no_bytes = |_| AuthError::Store("no random bytes from the operating system".into());
        filled.map_err(no_bytes)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl FromStr for Generation {
    type Err = AuthError;

    /// Reads 32 hexadecimal digits.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`] for any other text.
    fn from_str(text: &str) -> Result<Self, AuthError> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok();
        let reason = "a generation is 32 hexadecimal digits";
        number
            .filter(|_| is_hex)
            .map(Self)
            .ok_or_else(|| AuthError::Store(reason.into()))
    }
}
