//! Store in encrypted files.

mod builder;
mod directory;
mod evict;
mod key;
#[cfg(feature = "keyring")]
mod keyring;
mod location;
mod seal;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ring::digest::{SHA256, digest};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::locks::KeyLocks;
use super::{Generation, StoreFuture, StoreKey, StoreLock, StoredEntry, TokenStore};
use crate::AuthError;

pub use self::builder::FileStoreBuilder;
pub use self::key::FileStoreKey;

use self::directory::Directory;
use self::seal::Seal;

/// Longest wait for the lock of another process. A holder sends one request to a token endpoint meanwhile.
const LOCK_TIMEOUT: Duration = Duration::from_secs(120);
const FIRST_POLL: Duration = Duration::from_millis(5);
const LAST_POLL: Duration = Duration::from_millis(100);

/// Store in encrypted files of the user, shared by all processes of the program.
///
/// ```no_run
/// use treenail::auth::FileStore;
///
/// let store = FileStore::open("travel-planner")?;
/// # let _ = store;
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
///
/// Each entry is one file. It is encrypted and authenticated by ChaCha20-Poly1305, with the names of store and file as
/// associated data. The 32-byte key is in the keyring of the platform (feature `keyring`), since entries of some keyrings are
/// too small for tokens. Without a keyring, choose another place for the key explicitly, see
/// [`FileStoreBuilder::key_file`] and [`FileStoreBuilder::key`]. Tokens are never written without encryption.
///
/// | platform | directory |
/// |---|---|
/// | Linux and other Unix | `$XDG_DATA_HOME/NAME/authorization`, else `~/.local/share/NAME/authorization` |
/// | macOS | `~/Library/Application Support/NAME/authorization` |
/// | Windows | `%LOCALAPPDATA%\NAME\authorization` |
///
/// On Unix, the directory has mode 0700 and each file mode 0600. A symbolic link, a file of another user, and a file that others
/// can read are refused with [`AuthError::Store`]. A file that was damaged, truncated, or copied from another machine counts as
/// absent, and the log has a warning. On Windows, the access rights are those of `%LOCALAPPDATA%`.
///
/// A process that ends releases its locks. At most 1,024 entries are stored; the oldest are removed first.
#[cfg(feature = "oauth")]
#[derive(Clone)]
pub struct FileStore {
    shared: Arc<Shared>,
}

struct Shared {
    directory: Directory,
    seal: Seal,
    locks: KeyLocks,
}

impl FileStore {
    /// Opens the store of a program, with its key in the keyring of the platform.
    ///
    /// `name` is the name of the program: 1 to 64 ASCII letters, digits, `-`, `_` and `.`, and the first is no `.`. The call
    /// blocks while the keyring asks the user to unlock it.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] for a name with other characters, and without the feature `keyring`. [`AuthError::Store`] if the
    /// directory or the keyring is not usable.
    pub fn open(name: &str) -> Result<Self, AuthError> {
        Self::builder(name).open()
    }

    /// Returns a builder, for another directory or another place of the key.
    pub fn builder(name: &str) -> FileStoreBuilder {
        FileStoreBuilder::new(name)
    }

    /// Runs an operation on the thread pool for blocking calls.
    async fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Shared) -> Result<T, AuthError> + Send + 'static,
    ) -> Result<T, AuthError> {
        let shared = Arc::clone(&self.shared);
        let joined = spawn_blocking(move || operation(&shared)).await;
        let ended = |_| AuthError::Store("the operation ended with the runtime".into());
        joined.map_err(ended)?
    }

    async fn lock_file(&self, name: String) -> Result<directory::LockFile, AuthError> {
        let deadline = Instant::now() + LOCK_TIMEOUT;
        let mut poll = FIRST_POLL;
        loop {
            let lock = name.clone();
            let file = self.run(move |shared| shared.directory.try_lock(&lock));
            if let Some(file) = file.await? {
                return Ok(file);
            }
            if Instant::now() >= deadline {
                let (directory, seconds) = (&self.shared.directory, LOCK_TIMEOUT.as_secs());
                let reason = format!(
                    "another process has held the lock `{name}` in {directory} for {seconds} s; end that process"
                );
                return Err(AuthError::Store(reason.into()));
            }
            sleep(poll).await;
            poll = LAST_POLL.min(poll * 2);
        }
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FileStore")
            .field("directory", &format_args!("{}", self.shared.directory))
            .finish_non_exhaustive()
    }
}

impl TokenStore for FileStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>> {
        let name = entry_name(key);
        Box::pin(self.run(move |shared| shared.load(&name)))
    }

    fn store<'a>(&'a self, key: &'a StoreKey, entry: StoredEntry) -> StoreFuture<'a, ()> {
        let name = entry_name(key);
        Box::pin(self.run(move |shared| {
            let sealed = shared.seal.seal(&name, &entry)?;
            evict::make_room(&shared.directory, &name)?;
            shared.directory.replace(&name, &sealed)
        }))
    }

    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool> {
        let name = entry_name(key);
        Box::pin(self.run(move |shared| {
            let entry = shared.load(&name)?;
            let is_current = entry.is_some_and(|entry| entry.generation == generation);
            if is_current {
                shared.directory.remove(&name)?;
            }
            Ok(is_current)
        }))
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        Box::pin(async move {
            // The tasks of this process wait in order; only the first of them polls the lock of the processes.
            let task = self.shared.locks.lock(key).await;
            let process = self.lock_file(evict::lock_name(&entry_name(key))).await?;
            Ok(StoreLock::new((process, task)))
        })
    }
}

impl Shared {
    fn load(&self, name: &str) -> Result<Option<StoredEntry>, AuthError> {
        let Some(sealed) = self.directory.read(name, seal::MAX)? else {
            return Ok(None);
        };
        let entry = self.seal.open(name, sealed);
        if entry.is_none() {
            let directory = &self.directory;
            tracing::warn!(
                %directory,
                file = name,
                "the stored entry is damaged or was encrypted with another key; a new authorization replaces it"
            );
        }
        Ok(entry)
    }
}

/// Returns the file of a key: its hash, since issuers and resources have characters that file names cannot have.
fn entry_name(key: &StoreKey) -> String {
    use std::fmt::Write as _;

    let hash = digest(&SHA256, key.to_string().as_bytes());
    let mut name = String::with_capacity(70);
    for byte in hash.as_ref() {
        let _ = write!(name, "{byte:02x}");
    }
    name + evict::ENTRY
}

#[cfg(test)]
mod processes;
#[cfg(all(test, unix))]
mod tests;
