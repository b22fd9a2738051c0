//! Scopes of features that are made at run time.

use self::guarded::{
    Guarded, ISSUER, METADATA, OTHER_ISSUER, builder, expect_challenge, expect_forbidden, tool,
    with_token,
};
use crate::authorization::files::twin as files;
use crate::authorization::tenants::twin as tenants;
use crate::authorization::{LEEWAY, LIFETIME, RESOURCE};

#[path = "../authorization/binding.rs"]
mod binding;
#[path = "../authorization/guarded.rs"]
mod guarded;
#[path = "../authorization/scopes.rs"]
mod scopes;
#[path = "../authorization/session.rs"]
mod session;
#[path = "../authorization/step_up.rs"]
mod step_up;
#[path = "../authorization/streams.rs"]
mod streams;
#[path = "../authorization/visibility/mod.rs"]
mod visibility;
