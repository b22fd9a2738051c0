//! Requests to token endpoints: forms, responses and errors (RFC 6749, sections 4 and 5).

pub(crate) mod error;
pub(crate) mod form;
mod response;

pub(crate) use self::response::TokenResponse;
