//! Why no client was generated.

use std::io;
use std::path::{Path, PathBuf};

/// Why no client was generated. No schema of a server is a reason: what cannot be typed is any JSON in the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The lock file cannot be read.
    #[error("the lock file `{}` cannot be read", path.display())]
    Read {
        /// Where it should be.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The generated file cannot be written.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// Where it should be.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The lock file is none, or one of another version.
    #[error("the lock file `{}` {reason}", path.display())]
    Lock {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The generated module would be larger than the generator writes.
    #[error(
        "the lock file `{}` makes a module of more than {} MiB; choose the tools that are needed",
        path.display(),
        most >> 20
    )]
    TooLarge {
        /// Where the lock file is.
        path: PathBuf,
        /// The most bytes of a module.
        most: usize,
    },
    /// An option makes no sense, or names what is not there.
    #[error("{0}")]
    Option(String),
    /// [`generate`](crate::Client::generate) was called outside of a build script, where Cargo sets no `OUT_DIR`.
    #[error(
        "`OUT_DIR` is not set; call `generate` in a build script, or `write` with the name of a file"
    )]
    OutDir,
    /// What was generated is no Rust: a mistake of the generator.
    #[error("what was generated is no Rust; please report this")]
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
