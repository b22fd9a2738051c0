//! What can go wrong when a server is built or served.

use std::error::Error as StdError;
use std::{fmt, io};

/// Why a server could not be built, or stopped.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server was put together wrongly: two tools have one name, a name is not allowed, a schema is not an object.
    #[error("{0}")]
    Build(String),
    /// Reading from or writing to the peer failed.
    #[error("the connection failed")]
    Io(#[from] io::Error),
    /// Any other error: of a client, a contract, a model, a tool loop, or the caller. One error type is enough for `main`.
    #[error(transparent)]
    Other(#[from] Box<dyn StdError + Send + Sync>),
}

/// Writes the message and its causes, for `fn main() -> treenail::Result<()>`.
impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(formatter, "\ncaused by: {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// A result whose error is [`Error`] unless it is given.
pub type Result<T, E = Error> = std::result::Result<T, E>;
