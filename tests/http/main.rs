//! Tests of the server over Streamable HTTP. The ids in messages are those of the tested requirements.
//!
//! Most requests are sent to a service in memory. Tests of sockets use a listener at a free port.

#![allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]
#![allow(
    clippy::duplicate_mod,
    reason = "`run_time` runs the same tables for features that are made at run time"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod attacks;
mod authorization;
mod budget;
mod client;
mod client_session;
mod closed_tasks;
mod cors;
mod disconnects;
mod early_responses;
mod extensions;
mod fixture;
mod hosts;
mod legacy;
// The client of the example below.
#[path = "../proxy/log.rs"]
mod log;
#[path = "../../examples/login.rs"]
#[allow(dead_code, reason = "it is a program")]
mod login;
#[path = "../protocol/support/made.rs"]
mod made;
mod mcp_client;
mod modern;
mod nested;
#[path = "../protocol/support/offer.rs"]
#[allow(dead_code, reason = "the tests of the protocol use more of it")]
mod offer;
// Cargo does not run tests of examples, so the test of this one is here.
#[path = "../../examples/protected.rs"]
#[allow(dead_code, reason = "it is a program")]
mod protected;
mod quiet_calls;
mod raw_json;
mod replicas;
mod resource_updates;
mod run_time;
#[path = "../../examples/service.rs"]
#[allow(dead_code, reason = "it is a program")]
mod service;
mod sockets;
mod sse;
mod tls;
