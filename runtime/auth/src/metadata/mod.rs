//! Metadata documents of protected resources (RFC 9728) and of authorization servers (RFC 8414, OpenID Connect Discovery).
//!
//! `resource` and `authorization_server` are the documents, read by `members`. `covers` compares the URL of a resource with that
//! of the server, `well_known` knows the places of documents, and `discovery` finds them.

mod authorization_server;
mod covers;
mod discovery;
mod members;
#[cfg(test)]
mod mutations;
mod resource;
#[cfg(test)]
mod tests;
pub(crate) mod well_known;

pub(crate) use self::authorization_server::AuthorizationServerMetadata;
pub(crate) use self::discovery::{Discovery, DiscoveryRules, FoundServer};
#[cfg(feature = "oauth")]
pub(crate) use self::discovery::{FoundResource, ResourceRequest};
