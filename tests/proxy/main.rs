//! Proxies: servers behind a server, between all eras.

mod calls;
mod faults;
mod features;
mod lifecycle;
mod questions;
mod script;
mod station;
mod subscriptions;
mod uris;
