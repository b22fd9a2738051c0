//! State of a mounted server, for programs.

use std::fmt;
use std::sync::Arc;

/// State of a mounted server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The first attempt to connect has not ended.
    Connecting,
    /// The server is connected, and its features are served.
    #[non_exhaustive]
    Connected {
        /// Number of its tools, prompts, resources and templates that are served.
        features: usize,
    },
    /// The server is not connected. The proxy tries to connect again. Features of an earlier connection are still listed, and
    /// their calls fail at once.
    #[non_exhaustive]
    Disconnected {
        /// The cause, for example the last line that the server wrote to standard error.
        cause: Arc<str>,
    },
}

impl Status {
    /// Returns true for [`Status::Connected`].
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected { .. })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting => formatter.write_str("connecting"),
            Self::Connected { features } => {
                write!(formatter, "connected, with {features} features")
            }
            Self::Disconnected { cause } => write!(formatter, "not connected: {cause}"),
        }
    }
}
