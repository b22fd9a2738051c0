//! Server transports.

#[cfg(feature = "http-server")]
pub(crate) mod http;
mod line;
mod stdio;
