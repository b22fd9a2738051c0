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
        /// Number of its tools, prompts, resources and templates that the filter selects, up to the limit. Some of them may be omitted
        /// with a warning, such as a second one of the same name.
        features: usize,
    },
    /// The server is not connected, and the proxy tries to connect again; or it is a server over HTTP that the latest request has
    /// not reached. Features of an earlier connection are still listed. Without a connection, their calls fail at once. Calls of
    /// a server over HTTP are still sent, and the first that reaches it ends the state.
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
