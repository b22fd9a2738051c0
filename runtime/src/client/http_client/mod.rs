//! HTTP client for one origin: an MCP server, or a language model.
//!
//! `pool` sends requests over pooled connections, whose sockets `proxy` opens, under the
//! control of a `guard` if a peer has named the URL. `url` checks the targets of requests,
//! `response` interprets status and headers, `body` reads and writes bodies, and `sse` parses event streams.

pub mod body;
pub(crate) mod guard;
pub(crate) mod pool;
mod proxy;
pub mod response;
pub mod sse;
pub mod url;
