//! Client, for programs that use MCP servers and for the tests of servers.
//!
//! From the bytes up: `session` (interface of a connection), `line` and `child` (connections over byte streams), `authorization`
//! (credentials of connections over HTTP), `protocol` (typed requests of the protocol), `cache` (cached lists and
//! change notifications), `typed` (typed tool calls).

pub(crate) mod answers;
#[cfg(feature = "http-client")]
mod authorization;
pub(crate) mod background;
pub(crate) mod cache;
mod challenge;
mod child;
pub(crate) mod cooperative;
mod error;
mod limits;
pub(crate) mod line;
mod mock;
pub(crate) mod protocol;
mod session;
mod shared_turn;
pub(crate) mod stray;
pub(crate) mod timeout;
mod try_join;
pub(crate) mod typed;

#[cfg(feature = "http-client")]
pub use self::authorization::{AuthorizationFuture, HttpAttempt, HttpAuthorization, Refusal};
pub use self::cache::{McpClient, McpClientBuilder, ResourceUpdates, UrlTemplate};
pub use self::challenge::{Challenge, Challenges, Unauthorized};
pub use self::child::{ServerCommand, Stderr};
pub use self::error::ClientError;
pub use self::limits::{
    CacheLimits, ClientLimits, HttpClientLimits, ListLimits, TaskWaitLimits, ValidationLimits,
};
pub use self::line::LineSession;
pub use self::mock::MockSession;
pub use self::protocol::{
    ClientHandler, ClientRequest, ExtensionRequest, HandlerFuture, McpClientSession,
    McpClientSessionBuilder, Notifications, PeerInfo, ProgressStream, ServerNotification,
    Subscription,
};
pub use self::session::{
    IncomingHandler, IncomingRequest, Responder, Session, SessionFuture, SessionNotification,
    SessionRequest, SessionWrapper, TransportKind,
};
pub use self::typed::{MockCall, TypedCall, TypedCallFuture, TypedStream};
pub use treenail_contract::{
    Change, Contract, ContractError, Drift, DriftLimits, Severity, Subject, is_invisible,
};
