//! The client, in memory: against servers of ours in every revision, and against scripted peers that do what servers
//! must not. The ids in names and messages are those of the requirements that are exercised.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod asked;
#[cfg(unix)]
mod child;
mod contract;
mod eras;
// Cargo does not run the tests inside of examples; those of this one run here.
#[path = "../../examples/client.rs"]
#[allow(dead_code, reason = "it is a program")]
mod example;
mod fixture;
mod hostile;
mod jsoncall;
mod kept;
mod line;
mod requests;
mod script;
mod typed;
mod validation;
