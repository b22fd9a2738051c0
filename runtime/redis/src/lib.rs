//! Redis for the framework Treenail: the event bus between replicas.
//!
//! Use the crate `treenail`, which re-exports [`RedisBus`] as `treenail::events::RedisBus`. The module `bus` is the event bus,
//! `connection` opens connections, and `bounded_stream` discards overlong strings while they are read.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bounded_stream;
mod bus;
mod connection;

pub use self::bus::RedisBus;

/// Names for other crates of Treenail. Not for use elsewhere; they may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::bounded_stream::BoundedStream;
    pub use crate::connection::{Driver, RESPONSE_TIMEOUT, open_client, open_connection};
    pub use redis;
}
