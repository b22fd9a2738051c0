//! What can go wrong when a server is built or served.

use std::io;

/// Why a server could not be built, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server was put together wrongly: two tools have one name, a name is not allowed, a schema is not an object.
    #[error("{0}")]
    Build(String),
    /// Reading from or writing to the peer failed.
    #[error("the connection failed")]
    Io(#[from] io::Error),
    /// A client could not connect, or a request of it failed.
    #[cfg(feature = "client")]
    #[error(transparent)]
    Client(#[from] crate::client::ClientError),
    /// A language model gave no answer.
    #[cfg(feature = "tool-loop")]
    #[error(transparent)]
    Model(#[from] crate::agent::ModelError),
    /// A lock file could not be read, or does not contain what was asked of it.
    #[cfg(feature = "client")]
    #[error(transparent)]
    Contract(#[from] crate::client::ContractError),
    /// A run of a tool loop could not go on.
    #[cfg(feature = "tool-loop")]
    #[error(transparent)]
    ToolLoop(#[from] crate::agent::ToolLoopError),
    /// A user's error, passed on so that `main` needs only one error type.
    #[error(transparent)]
    Other(#[from] Box<dyn std::error::Error + Send + Sync>),
}

/// A result whose error is [`Error`] unless it is given.
pub type Result<T, E = Error> = std::result::Result<T, E>;
