//! A server, and what it answers to each message, in every revision; the ids in the names and tables are those of the
//! requirements that are exercised.
//!
//! Every message that the server sends is validated against the schema of the revision that its peer speaks.

#![allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod arguments;
mod asking;
// Cargo does not run the tests inside of examples; those of these run here.
#[path = "../../examples/board.rs"]
#[allow(dead_code, reason = "it is a program")]
mod board;
#[path = "../../examples/booking.rs"]
#[allow(dead_code, reason = "it is a program")]
mod booking;
mod cancelled;
mod completion;
mod coverage;
mod covering;
mod dynamic;
mod edits;
mod eras;
mod extensions;
mod faults;
mod fixture;
mod forms;
mod fragile;
mod layers;
mod legacy_subscriptions;
mod library;
mod lists;
mod long_lived;
mod malformed;
mod namespaces;
mod notes;
mod offers;
mod outputs;
mod peer;
mod policy;
mod prompts;
#[path = "../../examples/rate_limit.rs"]
#[allow(dead_code, reason = "it is a program")]
mod rate_limit;
mod repeated;
mod requests;
mod resources;
mod restarted;
mod schemas;
mod sessions;
mod shared;
mod streams;
mod structured;
mod subscriptions;
mod told;
mod validator;
mod written;
