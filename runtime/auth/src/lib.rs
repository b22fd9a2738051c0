//! Authorization of the Model Context Protocol: an OAuth client and an OAuth resource server.
//!
//! Use the crate `treenail`, which re-exports this one as `treenail::auth`.

// Common to both halves: `jose` (signed tokens and keys), `challenge` (`WWW-Authenticate`), `scope`, `metadata` (documents of
// resources and authorization servers) and `fetch` (requests to servers that a peer has named). `client` obtains and renews
// tokens, `server` verifies them, and `testing` is an authorization server for tests.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "server")]
mod challenge;
#[cfg(feature = "client")]
mod client;
#[cfg(any(feature = "client", feature = "server", feature = "testing"))]
mod clock;
mod error;
#[cfg(any(feature = "client", feature = "server"))]
#[cfg_attr(
    not(all(feature = "client", feature = "server")),
    allow(
        dead_code,
        unused_imports,
        reason = "each half uses a part of the shared module"
    )
)]
mod fetch;
#[cfg(any(feature = "client", feature = "server", feature = "testing"))]
mod jose;
#[cfg(any(feature = "client", feature = "server"))]
#[cfg_attr(
    not(all(feature = "client", feature = "server")),
    allow(
        dead_code,
        unused_imports,
        reason = "each half uses a part of the shared module"
    )
)]
mod metadata;
#[cfg(test)]
mod mutation;
mod scope;
mod secret;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(any(feature = "client", feature = "server"))]
mod token;

#[cfg(feature = "client")]
pub use self::client::store::{
    FileStore, FileStoreBuilder, FileStoreKey, Generation, MemoryStore, StoreFuture, StoreKey,
    StoreLock, StoredEntry, TokenStore,
};
#[cfg(feature = "client")]
pub use self::client::{
    AuthorizationReport, AuthorizationRequest, AuthorizationStatus, Browser, Callback,
    ClientCredentials, Console, DpopAlgorithm, Finding, FindingLevel, IdentityProvider, OAuth,
    StepUp, StepUpFunction, SubjectToken, TokenFuture, TokenSource, UserAgent, UserAgentFlow,
    UserAgentFuture, WorkloadToken,
};
#[cfg(any(feature = "client", feature = "server", feature = "testing"))]
pub use self::clock::Clock;
pub use self::error::AuthError;
#[cfg(any(feature = "client", feature = "server"))]
pub use self::fetch::FetchPolicy;
#[cfg(any(feature = "client", feature = "testing"))]
pub use self::jose::SigningKey;
pub use self::scope::Scopes;
pub use self::secret::Secret;
#[cfg(feature = "server")]
pub use self::server::{
    CallerToken, ContextExt, Dpop, ExchangedToken, FixedTokenVerifier, Grant,
    IntrospectionVerifier, IntrospectionVerifierBuilder, JwtVerifier, JwtVerifierBuilder,
    MetadataService, ReplayFuture, ReplayStore, ResourceServer, TokenExchange, VerifiedToken,
    Verifier, VerifierFuture, VerifyError,
};
