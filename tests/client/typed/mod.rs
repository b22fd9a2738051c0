//! `#[mcp_client]`: the client, the server and the mock of a trait.

mod contract;
mod extended;
mod flattened;
mod mock;
mod options;
mod round_trip;
mod station;
mod streams;
mod structured;
mod values;
mod wrapped;
