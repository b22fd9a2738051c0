//! Private directory on Unix. All files are opened relative to its descriptor, and no symbolic link is followed.

use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::temporary_name;
use crate::AuthError;

/// Directory of mode 0700 that belongs to this user.
pub(in super::super) struct Directory {
    path: PathBuf,
    descriptor: OwnedFd,
}

/// Lock of a file, released when it is dropped or when the process ends.
pub(in super::super) struct LockFile {
    _file: File,
}

impl Directory {
    /// Opens a directory, and creates it if it is missing.
    pub(in super::super) fn open(path: PathBuf) -> Result<Self, AuthError> {
        let failed = |error: io::Error| {
            let shown = path.display();
            let reason = format!("could not open the directory {shown}: {error}");
            AuthError::Store(reason.into())
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&path).map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(CWD, &path, flags, Mode::empty());
        let descriptor = descriptor.map_err(|error| failed(error.into()))?;
        let stat = rustix::fs::fstat(&descriptor).map_err(|error| failed(error.into()))?;
        let directory = Self { path, descriptor };
        let owner = stat.st_uid;
        directory.check_private(".", owner, Mode::from_raw_mode(stat.st_mode), "0700")?;
        directory.remove_left_over()?;
        Ok(directory)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file of at most `max` bytes. `None` if it is missing.
    pub(in super::super) fn read(
        &self,
        name: &str,
        max: usize,
    ) -> Result<Option<Vec<u8>>, AuthError> {
        // A pipe in the place of the file must not block.
        let Some(file) = self.open_file(name, OFlags::RDONLY | OFlags::NONBLOCK)? else {
            return Ok(None);
        };
        // The capacity suffices, so that no reallocation leaves a copy of a key.
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let capacity = usize::try_from(length).map_or(max, |length| length.min(max));
        let mut bytes = Vec::with_capacity(capacity + 1);
        let read = file.take(max as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.failed("read", name, &error))?;
        if bytes.len() > max {
            let reason = format!("it is longer than {max} bytes; delete it and log in again");
            return Err(self.refused(name, &reason));
        }
        Ok(Some(bytes))
    }

    /// Writes a file beside the old one, and renames it.
    pub(in super::super) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), AuthError> {
        let written = temporary_name(name).and_then(|temporary| {
            let renamed = self.write_and_rename(&temporary, name, bytes);
            if renamed.is_err() {
                // The error of the write is the one to report.
                let _ = rustix::fs::unlinkat(&self.descriptor, &*temporary, AtFlags::empty());
            }
            renamed
        });
        written.map_err(|error| self.failed("write", name, &error))
    }

    fn write_and_rename(&self, temporary: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut file = File::from(self.open_at(temporary, flags)?);
        file.write_all(bytes)?;
        // A rotated refresh token must survive a loss of power.
        file.sync_all()?;
        let descriptor = &self.descriptor;
        rustix::fs::renameat(descriptor, temporary, descriptor, name)?;
        rustix::fs::fsync(descriptor)?;
        Ok(())
    }

    /// Removes a file, if there is one.
    pub(in super::super) fn remove(&self, name: &str) -> Result<(), AuthError> {
        match rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.failed("remove", name, &error.into())),
        }
    }

    /// Takes a lock. `None` if another task or process holds it.
    pub(in super::super) fn try_lock(&self, name: &str) -> Result<Option<LockFile>, AuthError> {
        let Some(file) = self.open_file(name, OFlags::RDWR | OFlags::CREATE)? else {
            return Ok(None);
        };
        let failed = |error: io::Error| self.failed("lock", name, &error);
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
            Err(error) => return Err(failed(error.into())),
        }
        // A lock of a removed file excludes no one.
        let locked = file.metadata().map_err(failed)?;
        let current = rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW);
        let is_current =
            current.is_ok_and(|stat| u128::from(stat.st_ino) == u128::from(locked.ino()));
        Ok(is_current.then_some(LockFile { _file: file }))
    }

    /// Removes the file of a lock that is held.
    pub(in super::super) fn remove_lock(
        &self,
        name: &str,
        _held: LockFile,
    ) -> Result<(), AuthError> {
        self.remove(name)
    }

    /// Opens a regular file of this user that others cannot read. `None` if it is missing.
    fn open_file(&self, name: &str, flags: OFlags) -> Result<Option<File>, AuthError> {
        let file = match self.open_at(name, flags) {
            Ok(descriptor) => File::from(descriptor),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::MLINK) => {
                let reason = "it is a symbolic link; delete it and log in again";
                return Err(self.refused(name, reason));
            }
            Err(error) => return Err(self.failed("open", name, &error.into())),
        };
        let metadata = file.metadata();
        let metadata: Metadata = metadata.map_err(|error| self.failed("open", name, &error))?;
        if !metadata.is_file() {
            let reason = "it is no regular file; delete it and log in again";
            return Err(self.refused(name, reason));
        }
        let mode = Mode::from_bits_truncate((metadata.mode() & 0o7777) as _);
        self.check_private(name, metadata.uid(), mode, "0600")?;
        Ok(Some(file))
    }

    fn open_at(&self, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.descriptor, name, flags, Mode::RUSR | Mode::WUSR)
    }

    fn check_private(
        &self,
        name: &str,
        owner: u32,
        mode: Mode,
        expected: &str,
    ) -> Result<(), AuthError> {
        if owner != rustix::process::geteuid().as_raw() {
            let reason = "it belongs to another user; delete it and log in again";
            return Err(self.refused(name, reason));
        }
        if mode.intersects(Mode::RWXG | Mode::RWXO) {
            let reason = format!(
                "other users have access to it; set its mode to {expected}, and log in again, since they may have read it"
            );
            return Err(self.refused(name, &reason));
        }
        Ok(())
    }
}
