//! Key of a store in the keyring of the platform.

use std::sync::Arc;
use std::thread;

use keyring_core::{CredentialStore, Entry, Error};
use zeroize::Zeroizing;

use super::FileStoreKey;
use crate::AuthError;

/// User name of the entry; its service is the name of the program.
const USER: &str = "token store";

/// Reads the key of a program, or creates it. The caller holds the lock of the key.
pub(super) fn load_or_create(name: &str) -> Result<FileStoreKey, AuthError> {
    let name = name.to_owned();
    // Some keyrings run an executor of their own, which panics on a thread of another one.
    let thread = thread::Builder::new().name("keyring".to_owned());
    let spawned = thread.spawn(move || on_own_thread(&name));
    let no_thread = |error| AuthError::Store(format!("could not start a thread: {error}").into());
    let ended = |_| AuthError::Store("the keyring of the platform panicked".into());
    spawned.map_err(no_thread)?.join().map_err(ended)?
}

fn on_own_thread(name: &str) -> Result<FileStoreKey, AuthError> {
    let store = store()?;
    let entry: Entry = store
        .build(name, USER, None)
        .map_err(|error| failed(&error))?;
    match entry.get_secret() {
        Ok(secret) => {
            let secret = Zeroizing::new(secret);
            FileStoreKey::from_slice(&secret).ok_or_else(|| {
                let reason = format!(
                    "the entry `{USER}` of `{name}` in the keyring is not 32 bytes long; delete it and log in again"
                );
                AuthError::Store(reason.into())
            })
        }
        Err(Error::NoEntry) => {
            let key = FileStoreKey::random()?;
            let stored = entry.set_secret(key.bytes());
            stored.map_err(|error| failed(&error))?;
            Ok(key)
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Returns the store that the program has chosen, else the one of the platform.
fn store() -> Result<Arc<CredentialStore>, AuthError> {
    match keyring_core::get_default_store() {
        Some(store) => Ok(store),
        None => platform_store(),
    }
}

#[cfg(target_os = "macos")]
fn platform_store() -> Result<Arc<CredentialStore>, AuthError> {
    let store: Arc<CredentialStore> =
        apple_native_keyring_store::keychain::Store::new().map_err(|error| failed(&error))?;
    Ok(store)
}

#[cfg(windows)]
fn platform_store() -> Result<Arc<CredentialStore>, AuthError> {
    let store: Arc<CredentialStore> =
        windows_native_keyring_store::Store::new().map_err(|error| failed(&error))?;
    Ok(store)
}

#[cfg(not(any(target_os = "macos", windows)))]
fn platform_store() -> Result<Arc<CredentialStore>, AuthError> {
    let reason = "no keyring: set one with `keyring_core::set_default_store`, for example that of the crate \
                  `zbus-secret-service-keyring-store`, or choose `FileStoreBuilder::key_file` or `FileStoreBuilder::key`";
    Err(AuthError::Store(reason.into()))
}

/// Describes an error. Some variants of it contain a secret, so its own text is not used.
fn failed(error: &Error) -> AuthError {
    let reason = match error {
        Error::PlatformFailure(source) => format!("the keyring failed: {source}"),
        Error::NoStorageAccess(source) => format!("the keyring cannot be used: {source}"),
        Error::Ambiguous(_) => "the keyring has several entries of this program".to_owned(),
        Error::NoDefaultStore => "no keyring is set".to_owned(),
        Error::NotSupportedByStore(_) => "the keyring does not support binary entries".to_owned(),
        _ => "the keyring refused the entry of this program".to_owned(),
    };
    let remedy = "unlock it, or choose `FileStoreBuilder::key_file` or `FileStoreBuilder::key`";
    AuthError::Store(format!("{reason}; {remedy}").into())
}

#[cfg(test)]
mod tests {
    use keyring_core::mock;

    use super::*;
    use crate::client::store::FileStore;

    #[test]
    fn the_key_is_created_once_and_a_damaged_one_is_refused() {
        let parent = tempfile::tempdir().expect("a directory");
        let builder = FileStore::builder("planner").directory(parent.path().join("tokens"));
        keyring_core::set_default_store(mock::Store::new().expect("a keyring"));
        let first = load_or_create("planner").expect("a key");
        let second = load_or_create("planner").expect("a key");
        assert_eq!(first.bytes(), second.bytes());
        let other = load_or_create("other").expect("a key");
        assert_ne!(first.bytes(), other.bytes());
        builder.clone().open().expect("a store");
        let store = keyring_core::get_default_store().expect("a keyring");
        let entry = store.build("planner", USER, None).expect("an entry");
        entry.set_secret(b"short").expect("stored");
        let error = builder.open().expect_err("refused").to_string();
        assert!(
            error.contains("32 bytes") && !error.contains("short"),
            "{error}"
        );
    }
}
