//! Authorization server in the same process, for tests of servers and clients.
//!
//! [`TestAuthorizationServer`] implements the parts of OAuth that the Model Context Protocol uses. It listens on a loopback
//! address, or answers requests without network. Its user approves each request at once, so no browser is needed. It records
//! the requests that it receives, its clock can be advanced, and [faults](Fault) can be switched on.
//!
//! It is not made for production: it stores everything in memory, and its user enters no password.

mod authorize;
mod builder;
mod cimd;
mod client_authentication;
mod documents;
mod dpop;
mod fault;
mod introspect;
mod keys;
mod listener;
mod parameters;
mod record;
mod register;
mod reply;
mod request_values;
mod respond;
mod server;
mod state;
mod test_client;
mod test_token;
mod token;
#[cfg(feature = "oauth")]
mod user_agent;
#[cfg(feature = "authorization")]
mod verifier;

#[cfg(test)]
mod tests;

pub use self::builder::TestAuthorizationServerBuilder;
pub use self::fault::{Endpoint, Fault};
pub use self::record::RecordedRequest;
pub use self::server::TestAuthorizationServer;
pub use self::state::Approval;
pub use self::test_client::TestClient;
pub use self::test_token::TestToken;
