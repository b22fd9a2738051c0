//! Runs of one simulation with many seeds.

use std::env::var_os;
use std::thread;

use crate::options::MeasureMemory;
use crate::report::Report;
use crate::simulation::Simulation;

/// Variable with the number of seeds in place of that of the program.
const SEEDS: &str = "TREENAIL_SIM_SEEDS";
/// Variable with one seed, whose whole transcript is shown if it fails.
const SEED: &str = "TREENAIL_SIM_SEED";

/// Repetitions of a run that has not released all memory. The first run of a thread allocates what later ones share, and the buffer for
/// the output of a test grows in some runs. A leak is in all of them.
const REPETITIONS: u32 = 4;

/// Outcome of many runs without a broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Number of runs.
    pub seeds: u64,
    /// Number of kills, restarts, pauses, partitions and clock jumps that have happened, as in [`Report::faults`].
    pub faults: u64,
}

/// Runs a simulation with the seeds from 0 to `seeds`. The variable `TREENAIL_SIM_SEEDS` sets another number, and
/// `TREENAIL_SIM_SEED` a single seed.
///
/// With [`memory_limits`](Simulation::memory_limits), all memory of a run must have been released after it.
///
/// ```
/// use std::time::Duration;
///
/// use treenail::prelude::*;
/// use treenail::sim::{Faults, Simulation, check};
///
/// /// Returns its argument.
/// #[mcp_tool(read_only)]
/// fn echo(text: String) -> String {
///     text
/// }
///
/// let summary = check(3, |seed| {
///     Simulation::new(seed)
///         .server(|_| treenail::server!().tools(tools![echo]).build())
///         .faults(Faults::default())
///         .clients(2, |client| async move {
///             // Faults happen only while clients work.
///             while client.elapsed() < Duration::from_secs(20) {
///                 client.pause(Duration::from_secs(1)).await;
///                 let Ok(session) = client.connect().await else { continue };
///                 let _ = session.call_tool("echo", json!({"text": "hello"})).await;
///             }
///         })
/// });
/// assert!(summary.faults > 0);
/// ```
///
/// # Panics
///
/// With the first seed that breaks a rule: the message has the rules, the end of the transcript, and the command that repeats the run.
/// Also if one of the variables is not an integer, or within a tokio runtime.
#[track_caller]
pub fn check(seeds: u64, simulation: impl Fn(u64) -> Simulation) -> Summary {
    if let Some(seed) = number(SEED) {
        let report = run(seed, &simulation);
        let is_ok = report.violations().is_empty();
        let violations = report.violations().join("\n- ");
        assert!(is_ok, "seed {seed}\n{}- {violations}", report.transcript());
        return Summary {
            seeds: 1,
            faults: report.faults(),
        };
    }
    let seeds = number(SEEDS).unwrap_or(seeds);
    let mut faults = 0;
    for seed in 0..seeds {
        let report = run(seed, &simulation);
        let is_ok = report.violations().is_empty();
        assert!(is_ok, "{report}\nrepeat it with `{}`", command(seed));
        faults += report.faults();
    }
    Summary { seeds, faults }
}

/// Runs one seed, and checks that it releases its memory.
#[track_caller]
fn run(seed: u64, simulation: &impl Fn(u64) -> Simulation) -> Report {
    let first = simulation(seed);
    let Some(limits) = first.memory_limits else {
        return first.run();
    };
    drop(first);
    let run = || measured(limits.measure, || simulation(seed).run());
    let (mut report, mut remaining) = run();
    for _ in 0..REPETITIONS {
        if remaining <= 0 || !report.violations.is_empty() {
            return report;
        }
        (report, remaining) = run();
    }
    if remaining > 0 {
        let text = format!("{remaining} bytes were not released after the run");
        report.violations.push(text);
    }
    report
}

/// Returns the report of a run, and the number of bytes that are still allocated after it, without those of the report.
fn measured(measure: MeasureMemory, run: impl Fn() -> Report) -> (Report, i64) {
    let mut report = None;
    let change = measure(&mut || report = Some(run()));
    let copy = report.clone().expect("`measure` calls its argument");
    let released = measure(&mut || drop(report.take()));
    (copy, change + released)
}

fn number(variable: &str) -> Option<u64> {
    let value = var_os(variable)?;
    Some(parse(variable, &value.to_string_lossy()))
}

/// Parses the value of a variable.
fn parse(variable: &str, value: &str) -> u64 {
    let number = value.trim().parse();
    number
        .unwrap_or_else(|_| panic!("`{variable}` is {value:?}; expected an integer of at least 0"))
}

/// Returns the command that repeats a run. The threads of tests have their names.
fn command(seed: u64) -> String {
    let thread = thread::current();
    let test = thread.name().filter(|name| *name != "main");
    format!("{SEED}={seed} cargo test {}", test.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_seeds_is_read() {
        assert_eq!(parse(SEEDS, " 60\n"), 60);
    }

    #[test]
    #[should_panic(
        expected = "`TREENAIL_SIM_SEEDS` is \"1_000\"; expected an integer of at least 0"
    )]
    fn a_malformed_number_of_seeds_is_rejected() {
        parse(SEEDS, "1_000");
    }
}
