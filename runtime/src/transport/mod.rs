//! Ways in which messages travel.

#[cfg(feature = "http-server")]
pub(crate) mod http;
mod line;
mod stdio;
