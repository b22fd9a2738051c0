//! Private directory of a store.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fmt;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use ring::rand::{SecureRandom, SystemRandom};

use crate::AuthError;

#[cfg(unix)]
pub(super) use self::unix::{Directory, LockFile};
#[cfg(windows)]
pub(super) use self::windows::{Directory, LockFile};

/// Extension of files that are written beside the final ones.
const TEMPORARY: &str = ".new";
/// Age at which a file is left over: a temporary one from a process that has ended, a lock from an entry that was deleted.
const LEFT_OVER: Duration = Duration::from_secs(60 * 60);
/// Longest wait for the creation of the key by another process, which may ask its user to unlock the keyring.
const KEY_TIMEOUT: Duration = Duration::from_secs(60);

/// File of a directory.
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) modified: SystemTime,
}

impl Listed {
    pub(super) fn is_left_over(&self) -> bool {
        let age = SystemTime::now().duration_since(self.modified);
        age.is_ok_and(|age| age >= LEFT_OVER)
    }
}

impl Directory {
    /// Returns the files whose names end with `extension`.
    pub(super) fn list(&self, extension: &str) -> Result<Vec<Listed>, AuthError> {
        list(self.path(), extension).map_err(|error| self.failed("list", "", &error))
    }

    /// Waits for a lock, in a function that blocks.
    pub(super) fn lock_blocking(&self, name: &str) -> Result<LockFile, AuthError> {
        let deadline = Instant::now() + KEY_TIMEOUT;
        loop {
            if let Some(lock) = self.try_lock(name)? {
                return Ok(lock);
            }
            if Instant::now() >= deadline {
                let seconds = KEY_TIMEOUT.as_secs();
                let reason = format!(
                    "another process has held the lock `{name}` in {self} for {seconds} s; end that process"
                );
                return Err(AuthError::Store(reason.into()));
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Removes the temporary files of processes that have ended while they wrote.
    fn remove_left_over(&self) -> Result<(), AuthError> {
        for file in self.list(TEMPORARY)? {
            if file.is_left_over() {
                self.remove(&file.name)?;
            }
        }
        Ok(())
    }

    fn failed(&self, action: &str, name: &str, error: &io::Error) -> AuthError {
        AuthError::Store(format!("could not {action} `{name}` in {self}: {error}").into())
    }

    fn refused(&self, name: &str, reason: &str) -> AuthError {
        AuthError::Store(format!("refused `{name}` in {self}: {reason}").into())
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path().display().fmt(formatter)
    }
}

fn list(path: &Path, extension: &str) -> io::Result<Vec<Listed>> {
    let mut files = Vec::new();
    for entry in path.read_dir()? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if !name.ends_with(extension) {
            continue;
        }
        // Another process may have removed it meanwhile.
        if let Ok(metadata) = entry.metadata() {
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push(Listed { name, modified });
        }
    }
    Ok(files)
}

/// Returns a name that no other writer uses.
fn temporary_name(name: &str) -> io::Result<String> {
    let mut random = [0; 8];
    let filled = SystemRandom::new().fill(&mut random);
    filled.map_err(|_| io::Error::other("no random bytes from the operating system"))?;
    let random = u64::from_be_bytes(random);
    Ok(format!("{name}.{random:016x}{TEMPORARY}"))
}
