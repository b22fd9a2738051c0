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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{message}")]
    struct Cause {
        message: &'static str,
        source: Option<Box<Cause>>,
    }

    #[test]
    fn debug_writes_the_message_and_a_line_for_each_cause() {
        let cause = |message, source: Option<Cause>| Cause {
            message,
            source: source.map(Box::new),
        };
        let inner = cause("no route", None);
        let middle = cause("connection failed", Some(inner));
        let other: Box<dyn StdError + Send + Sync> = cause("no server", Some(middle)).into();
        let io = io::Error::other(cause("broken pipe", None));
        let table = [
            (
                Error::Build("two tools named `a`".to_owned()),
                "two tools named `a`",
            ),
            (
                Error::Io(io),
                "the connection failed\ncaused by: broken pipe",
            ),
            (
                Error::Other(other),
                "no server\ncaused by: connection failed\ncaused by: no route",
            ),
        ];
        for (error, expected) in table {
            assert_eq!(format!("{error:?}"), expected);
        }
    }
}
