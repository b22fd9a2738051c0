//! The framework itself under simulation: calls, subscriptions and tasks with faults. `TREENAIL_SIM_SEEDS` sets the number of seeds.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod callers;
mod calls;
mod desk;
mod determinism;
mod events;
mod failover;
mod faults;
mod memory;
mod processes;
mod rules;
mod tasks;
mod waiting;

/// Seeds of each scenario in a normal test run.
const SEEDS: u64 = 4;
