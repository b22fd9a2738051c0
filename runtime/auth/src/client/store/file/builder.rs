//! Configuration of a [`FileStore`].

use std::path::PathBuf;
use std::sync::Arc;

use super::directory::Directory;
use super::seal::Seal;
use super::{FileStore, FileStoreKey, Shared, evict, key, location};
use crate::AuthError;

/// Builder of a [`FileStore`], from [`FileStore::builder`].
///
/// ```no_run
/// use treenail::auth::FileStore;
///
/// let store = FileStore::builder("travel-planner").key_file().open()?;
/// # let _ = store;
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
#[cfg(feature = "oauth")]
#[derive(Clone, Debug)]
#[must_use = "call `open`"]
pub struct FileStoreBuilder {
    name: String,
    directory: Option<PathBuf>,
    key: KeySource,
}

#[derive(Clone, Debug)]
enum KeySource {
    Keyring,
    File,
    Given(FileStoreKey),
}

impl FileStoreBuilder {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            directory: None,
            key: KeySource::Keyring,
        }
    }

    /// Sets the directory. It is created if it is missing, and holds nothing else. Default: see [`FileStore`].
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the key, for example from the secret store of a deployment. Default: the keyring of the platform.
    pub fn key(mut self, key: FileStoreKey) -> Self {
        self.key = KeySource::Given(key);
        self
    }

    /// Stores the key in a file beside the entries, for machines without a keyring. Default: the keyring of the platform.
    ///
    /// This protects the entries by the access rights of the directory only: a reader of the directory has the key too.
    pub fn key_file(mut self) -> Self {
        self.key = KeySource::File;
        self
    }

    /// Opens the store, and creates its directory and key if they are missing. The call blocks.
    ///
    /// # Errors
    ///
    /// See [`FileStore::open`].
    pub fn open(self) -> Result<FileStore, AuthError> {
        location::check_name(&self.name)?;
        let path = match self.directory {
            Some(path) => path,
            None => location::default_directory(&self.name)?,
        };
        let directory = Directory::open(path)?;
        evict::remove_left_over_locks(&directory)?;
        let key = match self.key {
            KeySource::Keyring => key::from_keyring(&directory, &self.name)?,
            KeySource::File => key::from_file(&directory)?,
            KeySource::Given(key) => key,
        };
        let seal = Seal::new(&key, &self.name)?;
        let shared = Shared {
            directory,
            seal,
            locks: super::KeyLocks::default(),
        };
        Ok(FileStore {
            shared: Arc::new(shared),
        })
    }
}
