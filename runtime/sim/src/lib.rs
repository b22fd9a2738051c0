//! Deterministic simulation of servers of the framework Treenail, with their clients, replicas, event bus and task store.
//!
//! Use the crate `treenail`, which re-exports this one as `treenail::sim`.

// The modules, from the bottom up: `random` and `transcript`; `world` (state that all processes share) and `host` (one process,
// with a runtime and clock of its own), with its `panics` and the `watchdog` of its steps; `network` (connections); `watch` (messages on the connections of a server, and the rules
// that they obey); `serve` (replicas), `client`, `bus` and `store`; `faults` and `schedule`; `simulation` and `engine` (one run),
// `report` and `check` (many runs).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bus;
mod check;
mod client;
mod engine;
mod faults;
mod host;
mod network;
mod options;
mod panics;
mod random;
mod recorder;
mod report;
mod schedule;
mod serve;
mod simulation;
#[cfg(feature = "tasks")]
mod store;
mod transcript;
mod watch;
mod watchdog;
mod world;

pub use self::bus::SimBus;
pub use self::check::{Summary, check};
pub use self::client::Client;
pub use self::faults::Faults;
pub use self::options::{Balance, Transport};
pub use self::report::Report;
pub use self::serve::Replica;
pub use self::simulation::Simulation;
#[cfg(feature = "tasks")]
pub use self::store::SimStore;
pub use self::transcript::Transcript;
