//! Proxies: servers behind a server, between all eras.

mod calls;
mod script;
mod questions;
mod station;
