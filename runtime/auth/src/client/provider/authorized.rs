//! Outcome of an authorization.

use std::sync::Arc;

use super::tokens::Tokens;
use crate::AuthError;

/// Outcome of an authorization for all calls that wait for it.
#[derive(Clone, Debug)]
pub(super) enum Authorized {
    Tokens(Arc<Tokens>),
    /// The need of the call that has started it cannot be met. The reason concerns no other call.
    NotForThis(AuthError),
}
