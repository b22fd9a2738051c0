//! Responses of a server to each message, in every revision. The ids in names and tables are those of the covered requirements.
//!
//! Every message from the server is validated against the schema of the peer's revision.

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
#![allow(
    clippy::excessive_nesting,
    reason = "functions of tools inside of tables"
)]

mod argument_types;
mod arguments;
// Cargo does not run tests inside examples, so the tests of these examples run here.
#[path = "../../examples/board.rs"]
#[allow(dead_code, reason = "it is a program")]
mod board;
#[path = "../../examples/booking.rs"]
#[allow(dead_code, reason = "it is a program")]
mod booking;
mod cancellation;
mod carried_errors;
mod cleared;
mod completion;
mod completion_of_enums;
#[path = "../../examples/converter.rs"]
#[allow(dead_code, reason = "it is a program")]
mod converter;
mod coverage;
mod defaults;
mod derived_types;
mod dynamic;
mod dynamic_capabilities;
mod edits;
mod elicitation;
mod extension_api;
mod extensions;
mod faults;
mod flattened;
mod forms;
mod layers;
mod legacy_subscriptions;
mod library_types;
mod lists;
mod log_throttles;
mod low_level;
mod malformed;
mod mismatched_types;
mod namespaces;
mod negotiation;
mod nested_bounds;
mod notifications;
mod observers;
mod output_check;
mod outputs;
mod own_results;
mod policy;
mod prompts;
#[path = "../../examples/rate_limit.rs"]
#[allow(dead_code, reason = "it is a program")]
mod rate_limit;
mod registry;
mod reinitialize;
mod request_layers;
mod request_log;
mod requests;
mod resources;
mod run_time;
mod schemas;
mod serialization;
mod sessions;
mod shared_state;
mod skills;
#[path = "../../examples/skills.rs"]
#[allow(dead_code, reason = "it is a program")]
mod skills_example;
mod streams;
mod structured;
mod structured_beside_content;
mod subscription_errors;
mod subscription_lifetime;
mod subscriptions;
mod support;
mod task_support;
mod truncation;
mod user_interfaces;
mod visibility;

// The servers under test of the modules that `run_time` includes again, with twins of these servers.
use support::{
    asking, echo, faulty, hotel, library, notes, office, reception, shapes, slow, station, team,
    weather,
};
