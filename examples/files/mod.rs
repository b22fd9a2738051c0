//! One directory, and nothing outside of it.

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

/// Larger files are neither read nor searched.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// A directory that was opened once; everything else is reached through its handle.
pub(crate) struct Directory {
    root: Dir,
}

impl Directory {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { root })
    }

    /// Opens a regular file of acceptable size.
    ///
    /// The checks are made on the open file, so nothing can take its place between check and use.
    fn open_file(&self, path: &str) -> Result<File, FilesError> {
        let io_error = |source| FilesError::from_io(path, source);
        let file = open_to_read(&self.root, or_dot(&relative(path)?)).map_err(io_error)?;
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

/// Opens what `path` names below `dir`. The handle confines it: a symbolic link that leads out is an
/// error, however late it was put there.
fn open_to_read(dir: &Dir, path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Without `nonblock`, opening a named pipe would wait for somebody to write to it.
    options.read(true).nonblock(true);
    dir.open_with(path, &options)
}

/// The names in a path that a caller gave, joined by `/`; nothing for the directory itself.
fn relative(path: &str) -> Result<String, FilesError> {
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

/// The directory itself has no name, but to open it one is needed.
fn or_dot(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// The start of a text, cut between characters.
fn start_of(text: &str, max_bytes: usize) -> &str {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
