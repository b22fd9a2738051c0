//! OAuth client: obtains, stores and renews the tokens of HTTP sessions.

pub(crate) mod store;
