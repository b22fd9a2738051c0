//! What can go wrong when a server is built or served.

use std::error::Error as StdError;
#[cfg(feature = "http-server")]
use std::net::SocketAddr;
use std::{fmt, io};

use treenail_schema::UnknownRevision;

use crate::ask::AskError;
use crate::form::FormError;
use crate::scope::MissingScope;
use crate::tool::error::ToolError;
use crate::wire::RpcError;

/// Error of building or serving a server. Errors of clients, models and functions convert to it, so that `main` needs one type.
#[non_exhaustive]
pub enum Error {
    /// The configuration of the server is invalid: two tools have one name, a name is not allowed, a schema is not an object.
    Build(String),
    /// Reading from or writing to the peer failed, or a server cannot listen at its address.
    Io(io::Error),
    /// Any other error: of a client, a contract, a model, a tool loop, or the caller. One error type is enough for `main`.
    Other(Box<dyn StdError + Send + Sync>),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(message) => formatter.write_str(message),
            Self::Io(error) => formatter.write_str(&io_message(error)),
            Self::Other(error) => error.fmt(formatter),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Build(_) => None,
            Self::Io(error) => Some(error),
            Self::Other(error) => error.source(),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Box<dyn StdError + Send + Sync>> for Error {
    fn from(error: Box<dyn StdError + Send + Sync>) -> Self {
        Self::Other(error)
    }
}

/// Writes the message and its causes, for `fn main() -> treenail::Result<()>`. A cause that the message before it repeats is
/// omitted.
impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut message = self.to_string();
        formatter.write_str(&message)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            let inner = error.to_string();
            if !message.ends_with(&inner) {
                write!(formatter, "\ncaused by: {inner}")?;
                message = inner;
            }
            cause = error.source();
        }
        Ok(())
    }
}

/// Returns the error that an [`Error`] carries, or the error itself: a function that returns [`Result`] fails like one that returns
/// the inner error.
pub(crate) fn carried(error: Box<dyn StdError + Send + Sync>) -> Box<dyn StdError + Send + Sync> {
    match error.downcast::<Error>() {
        Ok(error) => match *error {
            Error::Other(inner) => carried(inner),
            Error::Io(inner) => Box::new(inner),
            other => Box::new(other),
        },
        Err(error) => error,
    }
}

/// Returns a reference to the error that an [`Error`] carries, like [`carried`].
#[cfg(feature = "tower")]
pub(crate) fn carried_ref<'e>(error: &'e (dyn StdError + 'static)) -> &'e (dyn StdError + 'static) {
    match error.downcast_ref::<Error>() {
        Some(Error::Other(inner)) => carried_ref(&**inner),
        Some(Error::Io(inner)) => inner,
        _ => error,
    }
}

macro_rules! from_errors {
    ($($error:ty)*) => {$(
        impl From<$error> for Error {
            #[inline]
            fn from(error: $error) -> Self {
                Self::Other(error.into())
            }
        }
    )*};
}

from_errors! { AskError FormError MissingScope RpcError ToolError UnknownRevision serde_json::Error }

/// A server cannot listen: the message names the address.
#[cfg(feature = "http-server")]
#[derive(Debug)]
struct ListenError(String);

#[cfg(feature = "http-server")]
impl fmt::Display for ListenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(feature = "http-server")]
impl StdError for ListenError {}

fn io_message(error: &io::Error) -> String {
    #[cfg(feature = "http-server")]
    if matches!(error.get_ref(), Some(inner) if inner.is::<ListenError>()) {
        return error.to_string();
    }
    #[cfg(not(feature = "http-server"))]
    let _ = error;
    "the connection failed".to_owned()
}

/// Returns the error of a server that cannot listen at any of its addresses, or whose address does not resolve.
#[cfg(feature = "http-server")]
pub fn listen_error(addresses: &[SocketAddr], error: &io::Error) -> Error {
    let addresses: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
    let message = match &*addresses {
        [] => {
            format!("the address to listen at is invalid, it is written as 127.0.0.1:8080: {error}")
        }
        addresses => format!("cannot listen at {}: {error}", addresses.join(", ")),
    };
    Error::Io(io::Error::new(error.kind(), ListenError(message)))
}

/// A result whose error is [`Error`] unless it is given.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::INSUFFICIENT_SCOPE;

    #[derive(Debug, thiserror::Error)]
    #[error("{message}")]
    struct Cause {
        message: &'static str,
        source: Option<Box<Cause>>,
    }

    #[test]
    fn a_cause_that_its_message_repeats_is_written_once() {
        let inner = Cause {
            message: "refused",
            source: None,
        };
        let outer = Cause {
            message: "cannot connect: refused",
            source: Some(Box::new(inner)),
        };
        let other: Box<dyn StdError + Send + Sync> = outer.into();
        assert_eq!(
            format!("{:?}", Error::Other(other)),
            "cannot connect: refused"
        );
    }

    #[test]
    fn every_error_of_a_function_converts() {
        let errors: [Error; 5] = [
            AskError::Declined.into(),
            FormError::new("guests", "too many").into(),
            MissingScope("files:admin".into()).into(),
            RpcError::invalid_request("no").into(),
            ToolError::new("no tool").into(),
        ];
        for error in errors {
            assert!(!format!("{error:?}").contains("Other"), "{error:?}");
        }
        let refusal = RpcError::from(MissingScope("files:admin".into()));
        assert_eq!(refusal.code, INSUFFICIENT_SCOPE);
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
