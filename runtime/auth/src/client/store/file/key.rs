//! Key of a store: in the keyring, in a file, or from the program.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use super::directory::Directory;
use crate::AuthError;

const LENGTH: usize = 32;
const FILE: &str = "key";

/// Key that encrypts the files of a [`FileStore`](super::FileStore): 32 random bytes.
///
/// Its text is base64, as written by `openssl rand -base64 32`:
///
/// ```
/// use treenail::auth::FileStoreKey;
///
/// // From your secret store, such as an environment variable.
/// let key: FileStoreKey = "kJpHhmlYJw5cQ1cPCs2xCkm8JvFMi7YHo4bWzKQJ9/I=".parse()?;
/// # let _ = key;
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
#[cfg(feature = "oauth")]
#[derive(Clone)]
pub struct FileStoreKey(Zeroizing<[u8; LENGTH]>);

impl FileStoreKey {
    /// Returns the key with these bytes.
    pub fn new(bytes: [u8; LENGTH]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &*self.0
    }

    pub(super) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::new)
    }

    pub(super) fn random() -> Result<Self, AuthError> {
        let mut key = Self::new([0; LENGTH]);
        let filled = SystemRandom::new().fill(&mut *key.0);
        let no_bytes = |_| AuthError::Store("no random bytes from the operating system".into());
        filled.map_err(no_bytes)?;
        Ok(key)
    }
}

impl FromStr for FileStoreKey {
    type Err = AuthError;

    /// Reads 32 bytes in base64.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] for any other text.
    fn from_str(text: &str) -> Result<Self, AuthError> {
        let bytes = STANDARD.decode(text.trim()).ok().map(Zeroizing::new);
        let key = bytes.and_then(|bytes| Self::from_slice(&bytes));
        // A more precise message would reveal parts of the key.
        key.ok_or_else(|| AuthError::invalid("the key of a token store is 32 bytes in base64"))
    }
}

impl fmt::Debug for FileStoreKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FileStoreKey(…)")
    }
}

/// Reads the key file, or creates it.
pub(super) fn from_file(directory: &Directory) -> Result<FileStoreKey, AuthError> {
    let _lock = directory.lock_blocking("key.lock")?;
    if let Some(bytes) = directory.read(FILE, LENGTH)? {
        let bytes = Zeroizing::new(bytes);
        return FileStoreKey::from_slice(&bytes).ok_or_else(|| {
            let reason = format!(
                "the file `{FILE}` in {directory} is not {LENGTH} bytes long; restore it, or delete it and log in again"
            );
            AuthError::Store(reason.into())
        });
    }
    let key = FileStoreKey::random()?;
    directory.replace(FILE, key.bytes())?;
    Ok(key)
}

/// Reads the key in the keyring of the platform, or creates it.
#[cfg(feature = "keyring")]
pub(super) fn from_keyring(directory: &Directory, name: &str) -> Result<FileStoreKey, AuthError> {
    let _lock = directory.lock_blocking("key.lock")?;
    super::keyring::load_or_create(name)
}

#[cfg(not(feature = "keyring"))]
pub(super) fn from_keyring(_: &Directory, _: &str) -> Result<FileStoreKey, AuthError> {
    let reason = "a token store needs a key: enable the feature `keyring`, or choose `FileStoreBuilder::key_file` or \
                  `FileStoreBuilder::key`";
    Err(AuthError::invalid(reason))
}
