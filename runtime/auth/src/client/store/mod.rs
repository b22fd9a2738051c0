//! Storage of tokens, registrations and keys.

mod entry;
mod file;
mod key;
mod locks;
mod memory;
mod record;

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::AuthError;

pub use self::entry::{Generation, StoredEntry};
pub use self::file::{FileStore, FileStoreBuilder, FileStoreKey};
pub use self::key::StoreKey;
pub use self::memory::MemoryStore;
pub(crate) use self::record::{
    DpopKeyRecord, RegistrationRecord, ServerRecord, Stored, TokenRecord, TokenType, delete_if,
    load, save, save_locked,
};

/// A future of a [`TokenStore`]. The error is [`AuthError::Store`].
#[cfg(feature = "oauth")]
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

/// Storage of the tokens, registrations and keys of one user.
///
/// An entry is one text of at most 1 MiB under a [`StoreKey`]. The text contains secrets: a store that outlives the process
/// encrypts it. A store belongs to one user of the program; a program with many users has one store for each of them.
///
/// # Locking
///
/// A rotated refresh token is valid once, so only one task of one process may use it. [`lock`](Self::lock) is mutual exclusion
/// between all tasks and processes that share the store, separately for each key. The client uses it in this order:
///
/// 1. lock the key,
/// 2. load the entry again, since another process may have renewed it,
/// 3. send the request to the token endpoint if the loaded entry is still the old one,
/// 4. store the response, then drop the lock.
///
/// The client holds a lock for a request to the token endpoint at most. It never holds one during a request to the MCP server,
/// during a stream, or while it waits for the user. [`load`](Self::load) needs no lock and does not wait for one.
///
/// # Cancellation
///
/// The future of [`store`](Self::store) may be dropped. The entry is then the old one or the new one, never a part of it.
#[cfg(feature = "oauth")]
pub trait TokenStore: fmt::Debug + Send + Sync + 'static {
    /// Returns the entry of a key.
    ///
    /// An entry that can be read no longer (damaged, or encrypted with a key that is lost) counts as absent, since a new
    /// authorization replaces it.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`] if the storage failed, or if others could read or replace its entries.
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>>;

    /// Replaces the entry of a key. The caller holds the lock of the key.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`] if the storage failed. The old entry is then unchanged.
    fn store<'a>(&'a self, key: &'a StoreKey, entry: StoredEntry) -> StoreFuture<'a, ()>;

    /// Deletes the entry of a key if it still has this generation, and returns true if it was deleted. The caller holds the lock of
    /// the key, unless no entry of this generation was ever stored.
    ///
    /// A late refusal of an old refresh token thus never deletes the tokens that another process has obtained meanwhile.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`] if the storage failed.
    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool>;

    /// Waits for the lock of a key. Dropping the result releases it, and so does the end of the process.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`] if the storage failed, or if another process has held the lock for too long.
    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock>;
}

impl<S: TokenStore + ?Sized> TokenStore for Arc<S> {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>> {
        (**self).load(key)
    }

    fn store<'a>(&'a self, key: &'a StoreKey, entry: StoredEntry) -> StoreFuture<'a, ()> {
        (**self).store(key, entry)
    }

    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool> {
        (**self).delete(key, generation)
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        (**self).lock(key)
    }
}

/// Lock of one key of a [`TokenStore`], released when it is dropped.
#[cfg(feature = "oauth")]
#[must_use = "dropping it releases the lock"]
pub struct StoreLock {
    guard: Box<dyn Any + Send>,
}

impl StoreLock {
    /// Wraps the guard of a lock, which releases it when it is dropped.
    pub fn new(guard: impl Any + Send) -> Self {
        Self {
            guard: Box::new(guard),
        }
    }
}

impl fmt::Debug for StoreLock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = &self.guard;
        formatter.debug_struct("StoreLock").finish_non_exhaustive()
    }
}
