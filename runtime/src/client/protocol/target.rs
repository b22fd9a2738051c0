//! Server to connect to.

use std::sync::Arc;

#[cfg(feature = "http-client")]
use crate::client::HttpAuthorization;
use crate::client::child::ServerCommand;
use crate::client::line::LineSession;
use crate::client::protocol::handshake::Expectation;
use crate::client::{ClientError, ClientLimits, Session};
use crate::server::Connection;

/// Server to connect to.
pub(super) enum Target {
    Session(Arc<dyn Session>),
    Command(ServerCommand),
    /// `None` once it has been opened.
    Memory(Option<Connection>),
    #[cfg(feature = "http-client")]
    Http(Box<dyn HttpTarget>, Option<Arc<dyn HttpAuthorization>>),
}

/// Server over HTTP. The crate `treenail-http-session` implements it.
#[cfg(feature = "http-client")]
pub trait HttpTarget: Send + Sync + 'static {
    /// Opens a session, with these credentials in place of its own.
    fn open(
        &self,
        limits: &ClientLimits,
        authorization: Option<&Arc<dyn HttpAuthorization>>,
    ) -> Result<Arc<dyn Session>, ClientError>;
}

impl Target {
    /// Opens a session with the server.
    pub(super) fn open(&mut self, limits: &ClientLimits) -> Result<Arc<dyn Session>, ClientError> {
        Ok(match self {
            Self::Session(session) => Arc::clone(session),
            Self::Command(command) => Arc::new(command.start(limits)?),
            #[cfg(feature = "http-client")]
            Self::Http(http, authorization) => http.open(limits, authorization.as_ref())?,
            Self::Memory(connection) => {
                let connection = connection.take();
                let connection =
                    connection.ok_or_else(|| ClientError::closed("it has already been used"))?;
                Arc::new(LineSession::in_memory(connection, limits))
            }
        })
    }

    /// Sets the credentials of a server over HTTP.
    #[cfg(feature = "http-client")]
    pub(super) fn authorized(
        self,
        authorization: Arc<dyn HttpAuthorization>,
    ) -> Result<Self, ClientError> {
        match self {
            Self::Http(http, _) => Ok(Self::Http(http, Some(authorization))),
            _ => Err(ClientError::invalid(
                "`oauth` concerns servers over HTTP; set a `url`, or pass credentials to a child process in its environment",
            )),
        }
    }

    /// Returns true if the server is a child process that may be restarted for a legacy handshake.
    pub(super) fn can_restart(&self, expected: Expectation) -> bool {
        matches!(self, Self::Command(_)) && !matches!(expected, Expectation::Only(_))
    }
}
