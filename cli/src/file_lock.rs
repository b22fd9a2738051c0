//! Lock between processes, which the operating system releases when its process ends.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::exit::Failure;

/// Maximum time to wait for another process, which holds the lock for as long as it takes to write a file.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Time between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// Lock that is held until it is dropped. The file remains: another process could lock a new file while
/// this one holds the removed file.
#[derive(Debug)]
pub(crate) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for the lock of all files in a folder, which is created for the user only, on Unix.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self, Failure> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let created = builder.create(folder);
        created.map_err(Failure::io(format!("`{}`", folder.display())))?;
        let path = folder.join("lock");
        Self::acquire(&path).map_err(Failure::io(format!("`{}`", path.display())))
    }

    /// Waits for the lock, and creates its file.
    ///
    /// # Errors
    ///
    /// If the file cannot be created or locked, or another process does not release the lock in time.
    fn acquire(path: &Path) -> io::Result<Self> {
        let started = Instant::now();
        loop {
            if let Some(lock) = Self::try_acquire(path)? {
                return Ok(lock);
            }
            if started.elapsed() > TIMEOUT {
                let message = "another process holds the lock";
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            sleep(RETRY_INTERVAL);
        }
    }

    /// Takes the lock; `None` if it is held already.
    #[cfg(unix)]
    fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::{FlockOperation, flock};
        use rustix::io::Errno;

        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the lock; `None` if it is held already.
    #[cfg(windows)]
    fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        use std::os::windows::fs::OpenOptionsExt as _;

        const SHARING_VIOLATION: i32 = 32;

        let mut options = OpenOptions::new();
        // Without sharing, the open file is the lock.
        options
            .write(true)
            .create(true)
            .truncate(false)
            .share_mode(0);
        match options.open(path) {
            Ok(file) => Ok(Some(Self { _file: file })),
            Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::time::SystemTime;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn an_old_lock_that_is_held_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = FileLock::acquire(&path).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(FileLock::try_acquire(&path).unwrap().is_none());
        drop(held);
        assert!(FileLock::try_acquire(&path).unwrap().is_some());
    }

    #[test]
    fn a_file_that_was_left_behind_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        drop(File::create(&path).unwrap());
        assert!(FileLock::try_acquire(&path).unwrap().is_some());
    }
}
