//! OAuth client: obtains, stores and renews the tokens of HTTP sessions.
//!
//! `oauth` is the public configuration, and `provider` its behaviour in a session. A `grant` obtains tokens: `code` with a user
//! and a `user_agent`, through which the user signs in. `registration` finds the client id, and `token` sends requests to token endpoints. `store` has
//! the tokens. `grants` are those without a user, and `dpop` binds tokens to a key.

mod assertion;
mod code;
mod configuration;
mod credentials;
mod dpop;
mod grant;
mod grants;
mod oauth;
mod provider;
mod race;
mod registration;
mod settings;
mod single_flight;
mod source;
pub(crate) mod store;
#[cfg(all(test, feature = "test-authorization"))]
mod tests;
mod token;
mod urls;
mod user_agent;

pub use self::credentials::ClientCredentials;
pub use self::dpop::DpopAlgorithm;
pub use self::grants::{IdentityProvider, SubjectToken, WorkloadToken};
pub use self::oauth::OAuth;
pub use self::provider::{AuthorizationReport, AuthorizationStatus, Finding, FindingLevel};
pub use self::settings::{StepUp, StepUpFunction};
pub use self::source::{TokenFuture, TokenSource};
pub use self::user_agent::{
    AuthorizationRequest, Browser, Callback, Console, UserAgent, UserAgentFlow, UserAgentFuture,
};
