//! Code generators: typed clients from the lock files of servers ([`Client`]), and the types of
//! `treenail-schema` from the schemas of the protocol (feature `protocol`, for the build of Treenail itself).

mod client;
#[cfg(feature = "protocol")]
mod protocol;

pub use client::{Client, Error};
#[cfg(feature = "protocol")]
pub use protocol::{File, REVISIONS, distil, generate, read};
