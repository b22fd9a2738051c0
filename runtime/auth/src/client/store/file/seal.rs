//! Encryption of entries.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use super::FileStoreKey;
use crate::client::store::StoredEntry;
use crate::{AuthError, Secret};

/// First bytes of each file; the last one is the version.
const MAGIC: &[u8] = b"treenail tokens \x01";
const GENERATION: usize = 32;
const TAG: usize = 16;
const OVERHEAD: usize = MAGIC.len() + NONCE_LEN + GENERATION + TAG;
/// Maximum length of a file.
pub(super) const MAX: usize = StoredEntry::MAX + OVERHEAD;

/// Encrypts and decrypts the entries of one store.
pub(super) struct Seal {
    key: LessSafeKey,
    store: String,
}

impl Seal {
    pub(super) fn new(key: &FileStoreKey, store: &str) -> Result<Self, AuthError> {
        let unusable = |_| AuthError::Store("the key of the store is not usable".into());
        let key = UnboundKey::new(&CHACHA20_POLY1305, key.bytes()).map_err(unusable)?;
        Ok(Self {
            key: LessSafeKey::new(key),
            store: store.to_owned(),
        })
    }

    /// Encrypts an entry. The nonce is random: 96 bits suffice for 2³² entries under one key.
    pub(super) fn seal(&self, file: &str, entry: &StoredEntry) -> Result<Vec<u8>, AuthError> {
        let failed = |_| AuthError::Store("the entry could not be encrypted".into());
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(failed)?;
        let text = entry.text.expose();
        // Encrypted in place: the capacity suffices, so no copy of the text remains.
        let mut bytes = Zeroizing::new(Vec::with_capacity(OVERHEAD + text.len()));
        bytes.extend_from_slice(entry.generation.to_string().as_bytes());
        bytes.extend_from_slice(text.as_bytes());
        let nonce_value = Nonce::assume_unique_for_key(nonce);
        let associated = self.associated(file);
        let sealed = self
            .key
            .seal_in_place_append_tag(nonce_value, associated, &mut *bytes);
        sealed.map_err(failed)?;
        Ok([MAGIC, &nonce, &bytes].concat())
    }

    /// Decrypts an entry. `None` if it was changed, or encrypted with another key or under another name.
    pub(super) fn open(&self, file: &str, sealed: Vec<u8>) -> Option<StoredEntry> {
        let mut sealed = Zeroizing::new(sealed);
        let rest = sealed.strip_prefix(MAGIC)?;
        let nonce = Nonce::try_assume_unique_for_key(rest.get(..NONCE_LEN)?).ok()?;
        let encrypted = sealed.get_mut(MAGIC.len() + NONCE_LEN..)?;
        let associated = self.associated(file);
        let plain = self.key.open_in_place(nonce, associated, encrypted).ok()?;
        let (generation, text) = plain.split_at_checked(GENERATION)?;
        let generation = std::str::from_utf8(generation).ok()?.parse().ok()?;
        let text = std::str::from_utf8(text).ok()?;
        Some(StoredEntry::new(generation, Secret::from(text)))
    }

    fn associated(&self, file: &str) -> Aad<Vec<u8>> {
        Aad::from([self.store.as_bytes(), b"\0", file.as_bytes()].concat())
    }
}
