//! Errors of the generator.

use std::io;
use std::path::{Path, PathBuf};

/// Error of the generator. The schemas of a server cause no errors: an unsupported schema becomes any JSON in the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The lock file cannot be read.
    #[error("the lock file `{}` cannot be read", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The generated file cannot be written.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is not a lock file, or has an unsupported version.
    #[error("the lock file `{}` {reason}", path.display())]
    Lock {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The generated module would exceed the maximum size.
    #[error(
        "the module for the lock file `{}` would exceed {} MiB; select fewer tools",
        path.display(),
        max_bytes >> 20
    )]
    TooLarge {
        /// The path of the lock file.
        path: PathBuf,
        /// The maximum number of bytes of a module.
        max_bytes: usize,
    },
    /// An option is invalid, or names a missing tool.
    #[error("{0}")]
    InvalidOption(String),
    /// [`generate`](crate::Client::generate) was called outside of a build script, where Cargo sets no `OUT_DIR`.
    #[error(
        "`OUT_DIR` is not set; call `generate` in a build script, or `write` with the name of a file"
    )]
    OutDir,
    /// The generated code is not valid Rust, which is a bug of the generator.
    #[error("the generated code is not valid Rust; please report this")]
    Rust(#[source] syn::Error),
}

impl Error {
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}
