//! HTTP client for one origin: an MCP server, an authorization server, or a language model. Internal to the crates of
//! Treenail: the interface may change in any release.
//!
//! Use the crate `treenail` with the feature `http-client`.
//!
//! `pool` sends requests over pooled connections, which `idle` closes in time. `connector` opens each `socket` along a `route`, under
//! the control of a `guard` if a peer has named the URL; `keep_alive` detects dead ones. `tls` has the settings of `https` and explains
//! its errors, `failure` all others. `url` checks the targets of requests, `response` interprets status and
//! headers, `body` reads and writes bodies, and `sse` parses event streams. `client` is the interface of a client that replaces the
//! connections, `client_body` the body of both, and `own_client` sends requests through it.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod body;
mod client;
mod client_body;
mod connector;
#[cfg(feature = "dial")]
mod dial;
mod error;
mod failure;
mod guard;
#[cfg(all(test, feature = "dial"))]
mod http2_frames;
mod idle;
mod keep_alive;
mod own_client;
mod pool;
pub mod response;
mod route;
mod socket;
pub mod sse;
mod tls;
mod tunnel;
pub mod url;

pub use treenail_schema::internal::HttpClientLimits;

pub use self::client::{HttpClient, HttpClientFuture, NotSent};
pub use self::client_body::HttpClientBody;
#[cfg(feature = "dial")]
pub use self::dial::{ByteStream, Dial, DialFuture};
pub use self::error::HttpError;
pub use self::guard::{DialGuard, ResolveFuture};
pub use self::pool::{Pool, PoolOptions};
pub use self::tls::{TlsConfig, check_tls, without_client_certificate};
