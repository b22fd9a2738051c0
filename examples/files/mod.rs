//! Confined access to one directory.

mod error;
mod filter;
mod list;
mod read;
mod search;
mod visible;
mod walk;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Component, Path};

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};

pub(crate) use error::FilesError;
pub(crate) use list::Listing;
pub(crate) use read::Page;
pub(crate) use search::Found;

/// Maximum size of a file to read or search.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Handle to a directory. All paths are opened relative to it.
pub(crate) struct Directory {
    root: Dir,
}

impl Directory {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { root })
    }

    /// Opens a regular file within the size limit.
    ///
    /// The checks use the open file, so it cannot be replaced between check and use.
    fn open_file(&self, path: &str) -> Result<File, FilesError> {
        let io_error = |source| FilesError::from_io(path, source);
        let file = open_to_read(&self.root, or_dot(&normalize(path)?)).map_err(io_error)?;
        let metadata = file.metadata().map_err(io_error)?;
        if metadata.is_dir() {
            return Err(FilesError::IsDirectory(path.to_owned()));
        }
        if !metadata.is_file() {
            return Err(FilesError::Special(path.to_owned()));
        }
        if metadata.len() > MAX_FILE_BYTES {
            return Err(FilesError::TooLarge {
                path: path.to_owned(),
                bytes: metadata.len(),
                limit: MAX_FILE_BYTES,
            });
        }
        Ok(file)
    }
}

/// Opens `path` below `dir`. The handle confines it: a symbolic link to the outside is an error, even
/// if it was created after the check.
fn open_to_read(dir: &Dir, path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Without `nonblock`, opening a named pipe would wait for a writer.
    options.read(true).nonblock(true);
    dir.open_with(path, &options)
}

/// Normalizes a path from a caller: its names, joined by `/`; empty for the directory itself.
fn normalize(path: &str) -> Result<String, FilesError> {
    let mut names = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => names.extend(name.to_str()),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(FilesError::Outside(path.to_owned()));
            }
        }
    }
    Ok(names.join("/"))
}

/// Returns `.` for the directory itself, whose normalized path is empty.
fn or_dot(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// Truncates a text to `max_bytes`, at a character boundary.
fn truncate_text(text: &str, max_bytes: usize) -> &str {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
