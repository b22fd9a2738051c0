//! JSON-RPC messages as bytes. The module `wire` of the crate `treenail-schema` parses and writes them.

pub use treenail_schema::internal::wire::*;
pub(crate) use treenail_schema::internal::{quoted, shortened};
