//! Tests of the client in memory, with servers of Treenail in every revision and with scripted peers that violate the
//! protocol. The ids in names and messages are those of the tested requirements.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod cache;
#[cfg(unix)]
mod child;
mod contract;
mod elicitation;
mod errors;
// Cargo does not run the tests inside of examples, so those of this one run here.
#[path = "../../examples/client.rs"]
#[allow(dead_code, reason = "it is a program")]
mod example;
mod expired_session;
mod failing;
mod fixture;
mod handler_panics;
mod hostile;
mod input_rounds;
mod jsoncall;
mod large_messages;
mod line;
#[path = "../protocol/support/log.rs"]
mod lines;
mod log;
mod negotiation;
mod nested_requests;
mod oversized_requests;
mod replaced_server;
mod request_meta;
mod requests;
mod resource_updates;
mod sampling_messages;
mod script;
mod sent;
mod server_requests;
mod skills;
mod sockets;
#[cfg(unix)]
mod stdio_server;
mod subscriptions;
mod tasks;
mod typed;
mod validation;
#[path = "../protocol/support/validator.rs"]
#[allow(dead_code, reason = "the tests of the protocol use more of it")]
mod validator;
