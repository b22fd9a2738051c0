//! Private directory on Windows. Its access rights are those of the parent directory, by default `%LOCALAPPDATA%` of the user.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::temporary_name;
use crate::AuthError;

/// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a symbolic link itself.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// `ERROR_SHARING_VIOLATION`: another process has opened the file.
const SHARING_VIOLATION: i32 = 32;

/// Directory of this user.
pub(in super::super) struct Directory {
    path: PathBuf,
}

/// Lock of a file, released when it is dropped or when the process ends.
pub(in super::super) struct LockFile {
    _file: File,
}

impl Directory {
    /// Opens a directory, and creates it if it is missing.
    pub(in super::super) fn open(path: PathBuf) -> Result<Self, AuthError> {
        let created = fs::create_dir_all(&path);
        let metadata = created.and_then(|()| path.symlink_metadata());
        let directory = Self { path };
        let metadata = metadata.map_err(|error| directory.failed("open", ".", &error))?;
        if !metadata.is_dir() || metadata.is_symlink() {
            return Err(directory.refused(".", "it is no directory"));
        }
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
        let file = match self.open_with(name, OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("open", name, &error)),
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
                let _ = fs::remove_file(self.path.join(temporary));
            }
            renamed
        });
        written.map_err(|error| self.failed("write", name, &error))
    }

    fn write_and_rename(&self, temporary: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file =
            self.open_with(temporary, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(bytes)?;
        // A rotated refresh token must survive a loss of power.
        file.sync_all()?;
        drop(file);
        fs::rename(self.path.join(temporary), self.path.join(name))
    }

    /// Removes a file, if there is one.
    pub(in super::super) fn remove(&self, name: &str) -> Result<(), AuthError> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed("remove", name, &error))
            }
            _ => Ok(()),
        }
    }

    /// Takes a lock. `None` if another task or process holds it.
    pub(in super::super) fn try_lock(&self, name: &str) -> Result<Option<LockFile>, AuthError> {
        let mut options = OpenOptions::new();
        // Without sharing, the open file is the lock.
        options.write(true).create(true).share_mode(0);
        match self.open_with(name, &mut options) {
            Ok(file) => Ok(Some(LockFile { _file: file })),
            Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
            Err(error) => Err(self.failed("lock", name, &error)),
        }
    }

    /// Removes the file of a lock that is held.
    pub(in super::super) fn remove_lock(
        &self,
        name: &str,
        held: LockFile,
    ) -> Result<(), AuthError> {
        drop(held);
        // Another process may hold it by now, and then the file remains.
        let _ = fs::remove_file(self.path.join(name));
        Ok(())
    }

    fn open_with(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        options.custom_flags(OPEN_REPARSE_POINT);
        let file = options.open(self.path.join(name))?;
        if file.metadata()?.is_file() {
            return Ok(file);
        }
        let reason = "it is a symbolic link or no regular file; delete it and log in again";
        Err(io::Error::other(reason))
    }
}
