//! The client: for programs that use servers, and for the tests of servers.

mod error;
#[cfg(feature = "http-client")]
mod http;
mod limits;
mod session;

pub use self::error::ClientError;
#[cfg(feature = "http-client")]
pub use self::http::{HttpSession, HttpSessionBuilder};
pub use self::limits::ClientLimits;
pub use self::session::{
    Incoming, IncomingRequest, Responder, Session, SessionFuture, SessionNotification,
    SessionRequest, Transport,
};
