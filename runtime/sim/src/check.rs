//! Runs of one simulation with many seeds.

use std::env::var;
use std::thread;

use crate::simulation::Simulation;

/// Variable with the number of seeds in place of that of the program.
const SEEDS: &str = "TREENAIL_SIM_SEEDS";
/// Variable with one seed, whose whole transcript is shown if it fails.
const SEED: &str = "TREENAIL_SIM_SEED";

/// Outcome of many runs without a broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Number of runs.
    pub seeds: u64,
}

/// Runs a simulation with the seeds from 0 to `seeds`. The variable `TREENAIL_SIM_SEEDS` sets another number, and
/// `TREENAIL_SIM_SEED` a single seed.
///
/// ```
/// use treenail::prelude::*;
/// use treenail::sim::{Faults, Simulation, check};
///
/// /// Returns its argument.
/// #[mcp_tool(read_only)]
/// fn echo(text: String) -> String {
///     text
/// }
///
/// check(3, |seed| {
///     Simulation::new(seed)
///         .server(|_| treenail::server!().tools(tools![echo]).build())
///         .faults(Faults::default())
///         .clients(2, |client| async move {
///             if let Ok(session) = client.connect().await {
///                 let _ = session.call_tool("echo", json!({"text": "hello"})).await;
///             }
///         })
/// });
/// ```
///
/// # Panics
///
/// With the first seed that breaks a rule: the message has the rules, the end of the transcript, and the command that repeats the run.
#[track_caller]
pub fn check(seeds: u64, simulation: impl Fn(u64) -> Simulation) -> Summary {
    if let Some(seed) = number(SEED) {
        let report = simulation(seed).run();
        let is_ok = report.violations().is_empty();
        let violations = report.violations().join("\n- ");
        assert!(is_ok, "seed {seed}\n{}- {violations}", report.transcript());
        return Summary { seeds: 1 };
    }
    let seeds = number(SEEDS).unwrap_or(seeds);
    for seed in 0..seeds {
        let report = simulation(seed).run();
        let is_ok = report.violations().is_empty();
        assert!(is_ok, "{report}\nrepeat it with `{}`", command(seed));
    }
    Summary { seeds }
}

fn number(variable: &str) -> Option<u64> {
    var(variable).ok()?.trim().parse().ok()
}

/// Returns the command that repeats a run. The threads of tests have their names.
fn command(seed: u64) -> String {
    let thread = thread::current();
    let test = thread.name().filter(|name| *name != "main");
    format!("{SEED}={seed} cargo test {}", test.unwrap_or_default())
}
