//! Why a tool failed, in words that let a model repair its call.

use std::io;

/// Why a tool failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilesError {
    #[error("`{0}` does not exist; `files.list` shows what does")]
    NotFound(String),

    #[error(
        "`{0}` leads out of the served directory; give a path relative to it, without `..`, \
         that no symbolic link takes elsewhere"
    )]
    Outside(String),

    #[error("`{0}` is a directory; list it with `files.list`")]
    IsDirectory(String),

    #[error("`{0}` is not a directory; read it with `files.read`")]
    NotADirectory(String),

    #[error("`{0}` is neither a file nor a directory; it cannot be read")]
    Special(String),

    #[error("`{0}` is a binary file; only text can be read")]
    Binary(String),

    #[error("`{path}` has {bytes} bytes; files over {limit} bytes are not read")]
    TooLarge {
        path: String,
        bytes: u64,
        limit: u64,
    },

    #[error("`last_line` ({last}) is before `first_line` ({first})")]
    EmptyRange { first: usize, last: usize },

    #[error("`{path}` has {total} lines; `first_line` is {first}")]
    PastTheEnd {
        path: String,
        first: usize,
        total: usize,
    },

    #[error("`{glob}` is not a glob")]
    Glob {
        glob: String,
        source: globset::Error,
    },

    #[error("`{pattern}` is not a regular expression for one line of text")]
    Pattern {
        pattern: String,
        source: grep_regex::Error,
    },

    #[error("`{path}` cannot be read")]
    Io { path: String, source: io::Error },
}

impl FilesError {
    /// What the system said about `path`.
    pub(super) fn from_io(path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound(path),
            // `cap-std` refuses paths that lead out; what the system refuses has an error code.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => {
                Self::Outside(path)
            }
            _ => Self::Io { path, source },
        }
    }
}
