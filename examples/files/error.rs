//! Errors of the tools, with messages that let a model correct its call.

use std::io;

/// Error of a tool.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilesError {
    #[error("`{0}` does not exist; use `files.list` to see existing paths")]
    NotFound(String),

    #[error(
        "`{0}` is outside the served directory; use a relative path without `..` and without \
         symbolic links that leave the directory"
    )]
    Outside(String),

    #[error("`{0}` is a directory; list it with `files.list`")]
    IsDirectory(String),

    #[error("`{0}` is not a directory; read it with `files.read`")]
    NotADirectory(String),

    #[error("`{0}` is neither a file nor a directory; it cannot be read")]
    Special(String),

    #[error("`{0}` is a binary file; only text files can be read")]
    Binary(String),

    #[error("`{path}` has {bytes} bytes; the limit is {limit} bytes")]
    TooLarge {
        path: String,
        bytes: u64,
        limit: u64,
    },

    #[error("`last_line` ({last}) is before `first_line` ({first})")]
    EmptyRange { first: usize, last: usize },

    #[error("`{path}` has {total} lines, but `first_line` is {first}")]
    PastTheEnd {
        path: String,
        first: usize,
        total: usize,
    },

    #[error("`{glob}` is not a valid glob")]
    Glob {
        glob: String,
        source: globset::Error,
    },

    #[error("`{pattern}` is not a valid regular expression for one line of text")]
    Pattern {
        pattern: String,
        source: grep_regex::Error,
    },

    #[error("`{path}` cannot be read")]
    Io { path: String, source: io::Error },
}

impl FilesError {
    /// Converts an I/O error on `path`.
    pub(super) fn from_io(path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound(path),
            // An error of `cap-std` for a path that leaves the directory has no OS error code.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => {
                Self::Outside(path)
            }
            _ => Self::Io { path, source },
        }
    }
}
