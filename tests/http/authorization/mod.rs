//! A server with authorization: an OAuth resource server whose tokens are given by the tests.

mod binding;
mod configuration;
mod custom;
mod example;
mod exchange;
pub(crate) mod files;
mod guarded;
mod in_memory;
mod invalid_tokens;
mod login;
mod metadata;
mod mounted;
mod own_client;
mod refusals;
mod scopes;
mod session;
mod step_up;
mod streams;
pub(crate) mod tenants;
mod visibility;

use std::time::Duration;

use self::guarded::{
    Guarded, ISSUER, METADATA, OTHER_ISSUER, Tokens, builder, expect_challenge, expect_forbidden,
    resource_server, tool, with_token,
};

pub(crate) const RESOURCE: &str = "https://mcp.example.com/mcp";
/// Lifetime of tokens, without the leeway of the server.
pub(crate) const LIFETIME: Duration = Duration::from_secs(300);
pub(crate) const LEEWAY: Duration = Duration::from_secs(60);
