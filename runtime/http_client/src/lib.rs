//! HTTP client for one origin: an MCP server, an authorization server, or a language model. Internal to the crates of
//! Treenail: the interface may change in any release.
//!
//! Use the crate `treenail` with the feature `http-client`.
//!
//! `pool` sends requests over pooled connections, whose sockets `proxy` opens, under the control of a `guard` if a peer has
//! named the URL; `keep_alive` detects dead ones. `url` checks the targets of requests, `response` interprets status and
//! headers, `body` reads and writes bodies, and `sse` parses event streams.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod body;
#[cfg(feature = "dial")]
mod dial;
mod error;
mod guard;
mod keep_alive;
mod pool;
mod proxy;
pub mod response;
pub mod sse;
pub mod url;

pub use treenail_schema::internal::HttpClientLimits;

#[cfg(feature = "dial")]
pub use self::dial::{ByteStream, Dial, DialFuture};
pub use self::error::HttpError;
pub use self::guard::{DialGuard, ResolveFuture};
pub use self::pool::Pool;
