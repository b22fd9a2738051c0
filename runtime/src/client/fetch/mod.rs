//! Requests over HTTP to one origin, whatever they are for: an MCP server, or a language model.
//!
//! `engine` is the HTTP library, set up with bounds, and `proxy` the sockets below it; `url` says where requests may go,
//! `head` what the head of a response means, `body` reads and writes bodies, and `sse` cuts a stream into events.

pub mod body;
pub(crate) mod engine;
pub mod head;
mod proxy;
pub mod sse;
pub mod url;
