//! Tests of the client in sessions over loopback sockets, with the authorization server for tests.

mod attacks;
mod fixture;
mod flows;
mod limits;
mod registration;
mod renewal;
