//! `#[mcp_client]`: one trait, and what is made of it.

mod contract;
mod mock;
mod options;
mod round_trip;
mod station;
mod streams;
mod wrapped;
