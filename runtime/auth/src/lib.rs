//! Authorization of the Model Context Protocol: an OAuth client and an OAuth resource server.
//!
//! Use the crate `treenail`, which re-exports this one as `treenail::auth`.

// Common to both halves: `jose` (signed tokens and keys), `challenge` (`WWW-Authenticate`), `scope`, `metadata` (documents of
// resources and authorization servers) and `fetch` (requests to servers that a peer has named). `client` obtains and renews
// tokens, `server` verifies them, and `testing` is an authorization server for tests.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "authorization")]
mod challenge;
#[cfg(feature = "oauth")]
mod client;
#[cfg(any(
    feature = "oauth",
    feature = "authorization",
    feature = "test-authorization"
))]
mod clock;
mod error;
#[cfg(any(feature = "oauth", feature = "authorization"))]
#[cfg_attr(
    not(all(feature = "oauth", feature = "authorization")),
    allow(
        dead_code,
        unused_imports,
        reason = "each half uses a part of the shared module"
    )
)]
mod fetch;
#[cfg(any(
    feature = "oauth",
    feature = "authorization",
    feature = "test-authorization"
))]
mod jose;
#[cfg(any(feature = "oauth", feature = "authorization"))]
#[cfg_attr(
    not(all(feature = "oauth", feature = "authorization")),
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
#[cfg(feature = "authorization")]
mod server;
#[cfg(feature = "test-authorization")]
pub mod testing;
#[cfg(any(feature = "oauth", feature = "authorization"))]
mod token;

#[cfg(feature = "oauth")]
pub use self::client::store::{
    FileStore, FileStoreBuilder, FileStoreKey, Generation, MemoryStore, StoreFuture, StoreKey,
    StoreLock, StoredEntry, TokenStore,
};
#[cfg(feature = "oauth")]
pub use self::client::{
    AuthorizationReport, AuthorizationRequest, AuthorizationStatus, Browser, Callback,
    ClientCredentials, Console, DpopAlgorithm, Finding, FindingLevel, IdentityProvider, OAuth,
    StepUp, StepUpFunction, SubjectToken, TokenFuture, TokenSource, UserAgent, UserAgentFlow,
    UserAgentFuture, WorkloadToken,
};
#[cfg(any(
    feature = "oauth",
    feature = "authorization",
    feature = "test-authorization"
))]
pub use self::clock::Clock;
pub use self::error::AuthError;
#[cfg(any(feature = "oauth", feature = "authorization"))]
pub use self::fetch::FetchPolicy;
#[cfg(any(feature = "oauth", feature = "test-authorization"))]
pub use self::jose::SigningKey;
pub use self::scope::Scopes;
pub use self::secret::Secret;
#[cfg(feature = "authorization")]
pub use self::server::{
    CallerToken, ContextExt, Dpop, ExchangedToken, FixedTokenVerifier, Grant,
    IntrospectionVerifier, IntrospectionVerifierBuilder, JwtVerifier, JwtVerifierBuilder,
    MetadataService, ReplayFuture, ReplayStore, ResourceServer, TokenExchange, VerifiedToken,
    Verifier, VerifierFuture, VerifyError,
};
#[cfg(any(feature = "oauth", feature = "authorization"))]
pub use treenail_http_client::{HttpClient, HttpClientBody, HttpClientFuture, NotSent, TlsConfig};
