//! The client: for programs that use servers, and for the tests of servers.

mod error;
mod limits;
mod session;

pub use self::error::ClientError;
pub use self::limits::ClientLimits;
pub use self::session::{
    Incoming, IncomingRequest, Responder, Session, SessionFuture, SessionNotification,
    SessionRequest, Transport,
};
