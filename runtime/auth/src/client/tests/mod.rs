//! Tests of the client in sessions over loopback sockets, with the authorization server for tests.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod announced;
mod answers;
mod attacks;
mod attempts;
mod fixture;
mod flows;
mod legacy;
mod limits;
mod lost_registrations;
mod outages;
mod registration;
mod renewal;
mod shared_store;
mod step_ups;
mod storage;
