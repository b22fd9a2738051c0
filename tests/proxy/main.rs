//! Proxies: servers behind a server, between all eras.

mod calls;
mod questions;
mod script;
mod station;
