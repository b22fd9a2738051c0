//! Requests to servers that a peer has named: bounded, and never to a network that the peer cannot reach itself.
//!
//! `policy` judges URLs and addresses, `host` and `address` classify them, `network` dials exactly the judged ones with `connection_settings`, `budget` bounds
//! a series of requests, `fetcher` sends them, and `response` reads their bodies.

mod address;
mod budget;
mod connection_settings;
mod fetcher;
mod host;
mod network;
mod policy;
mod response;
#[cfg(test)]
mod tests;

pub(crate) use self::budget::Budget;
pub(crate) use self::fetcher::Fetcher;
#[cfg(test)]
pub(crate) use self::fetcher::{Transport, TransportFuture};
pub use self::policy::FetchPolicy;
pub(crate) use self::policy::quoted_url;
pub(crate) use self::response::FetchResponse;
