//! Server to connect to.

#[cfg(feature = "http-client")]
use std::fmt;
use std::sync::Arc;

#[cfg(feature = "http-client")]
use treenail_schema::Revision;

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
    Memory(Option<Box<Connection>>),
    #[cfg(feature = "http-client")]
    Http(Box<dyn HttpTarget>, HttpOptions),
}

/// Options of a builder for a session over HTTP.
#[cfg(feature = "http-client")]
#[derive(Default)]
pub struct HttpOptions {
    /// Credentials in place of those of the session.
    pub authorization: Option<Arc<dyn HttpAuthorization>>,
    /// Further headers, by name and value.
    pub headers: Vec<(String, String)>,
    /// The only revision that the client accepts, if its user has set one.
    pub only_revision: Option<Revision>,
}

#[cfg(feature = "http-client")]
impl fmt::Debug for HttpOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secrets.
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("HttpOptions")
            .field("authorization", &self.authorization)
            .field("headers", &names)
            .field("only_revision", &self.only_revision)
            .finish()
    }
}

/// Server over HTTP. The crate `treenail-http-session` implements it.
#[cfg(feature = "http-client")]
pub trait HttpTarget: Send + Sync + 'static {
    /// Opens a session with these options.
    fn open(
        &self,
        limits: &ClientLimits,
        options: &HttpOptions,
    ) -> Result<Arc<dyn Session>, ClientError>;
}

impl Target {
    /// Opens a session with the server.
    pub(super) fn open(&mut self, limits: &ClientLimits) -> Result<Arc<dyn Session>, ClientError> {
        Ok(match self {
            Self::Session(session) => Arc::clone(session),
            Self::Command(command) => Arc::new(command.start(limits)?),
            #[cfg(feature = "http-client")]
            Self::Http(http, options) => http.open(limits, options)?,
            Self::Memory(connection) => {
                let connection = connection.take();
                let connection =
                    *connection.ok_or_else(|| ClientError::closed("it has already been used"))?;
                Arc::new(LineSession::in_memory(connection, limits))
            }
        })
    }

    /// Sets the options of a server over HTTP.
    #[cfg(feature = "http-client")]
    pub(super) fn with_options(self, options: HttpOptions) -> Result<Self, ClientError> {
        match self {
            Self::Http(http, _) => Ok(Self::Http(http, options)),
            _ if options.authorization.is_none() && options.headers.is_empty() => Ok(self),
            _ => Err(ClientError::invalid(
                "`authorization`, `header` and `bearer_token` concern servers over HTTP; set a `url`, or pass credentials to a child process in its environment",
            )),
        }
    }

    /// Returns true if the server is a child process that may be restarted for a legacy handshake.
    pub(super) fn can_restart(&self, expected: Expectation) -> bool {
        matches!(self, Self::Command(_)) && expected.only().is_none()
    }
}
