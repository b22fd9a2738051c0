//! Ways in which messages travel.

#[cfg(feature = "http")]
pub(crate) mod http;
mod line;
mod stdio;
