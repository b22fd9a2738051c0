//! A server over Streamable HTTP, request by request; the ids in names and messages are those of the requirements that are
//! exercised.
//!
//! Most requests go to the service in memory; those about sockets go to a listener at a free port.

#![allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod attacks;
mod budget;
mod client;
mod client_session;
mod cors;
mod fixture;
mod legacy;
mod mcp_client;
mod modern;
mod nested;
mod replicas;
mod sockets;
mod sse;
mod written;
