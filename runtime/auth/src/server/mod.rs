//! OAuth resource server: verifies tokens, and enforces the scopes of operations.

mod authorizer;
mod connect;
mod credentials;
mod document;
mod dpop;
mod exchange;
mod grant;
mod hierarchy;
mod public_url;
mod refusal;
mod resource_server;
mod settings;
mod verifier;
mod verify;

use std::time::Duration;

pub use self::document::MetadataService;
pub use self::dpop::{Dpop, ReplayFuture, ReplayStore};
pub use self::exchange::{CallerToken, ExchangedToken, TokenExchange};
pub use self::grant::{ContextExt, Grant};
pub use self::resource_server::ResourceServer;
pub use self::verifier::{VerifiedToken, Verifier, VerifierFuture, VerifyError};
pub use self::verify::{
    FixedTokenVerifier, IntrospectionVerifier, IntrospectionVerifierBuilder, JwtVerifier,
    JwtVerifierBuilder,
};

/// Tolerated difference between the clocks of this server and of others: issuers, and replicas with the same key.
const LEEWAY: Duration = Duration::from_secs(60);
