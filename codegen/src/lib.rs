//! Writes Rust from schemas: typed clients from the lock files of servers, and the types of `treenail-schema` from the
//! schemas of the protocol.

#[cfg(feature = "protocol")]
mod protocol;

#[cfg(feature = "protocol")]
pub use protocol::{File, REVISIONS, distil, generate, read};
