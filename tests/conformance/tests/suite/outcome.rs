//! Outcomes of scenarios, parsed from the output files of the suite.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde_json::Value;

/// Outcome of a scenario.
pub(crate) enum Outcome {
    Passed,
    /// Failed checks.
    Failed(Vec<String>),
}

/// Reads the outcomes by name of the scenario. Each scenario has a file `checks.json` in a folder `server-<name>-<time>`, or
/// `<name>-<time>` for clients. A name with a slash is a nested folder.
pub(crate) fn read_outcomes(folder: &Path) -> io::Result<BTreeMap<String, Outcome>> {
    let mut outcomes = BTreeMap::new();
    collect_outcomes(folder, "", &mut outcomes)?;
    Ok(outcomes)
}

fn collect_outcomes(
    folder: &Path,
    group: &str,
    outcomes: &mut BTreeMap<String, Outcome>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let checks = path.join("checks.json");
        if checks.is_file() {
            let checks: Vec<Value> = serde_json::from_slice(&fs::read(checks)?)?;
            let name = format!("{group}{}", scenario_name(&name));
            outcomes.insert(name, Outcome::from_checks(&checks));
        } else if path.is_dir() {
            collect_outcomes(&path, &format!("{group}{name}/"), outcomes)?;
        }
    }
    Ok(())
}

/// Returns the name of the scenario of a folder.
fn scenario_name(folder: &str) -> &str {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    // `…-2026-11-22T03-52-00-000Z`
    let time = "-2026-11-22T03-52-00-000Z".len();
    name.len()
        .checked_sub(time)
        .and_then(|end| name.get(..end))
        .unwrap_or(name)
}

impl Outcome {
    fn from_checks(checks: &[Value]) -> Self {
        let is = |check: &&Value, status: &str| check["status"] == status;
        let problems: Vec<_> = checks
            .iter()
            .filter(|check| is(check, "FAILURE") || is(check, "WARNING"))
            .map(describe_problem)
            .collect();
        if !problems.is_empty() {
            Self::Failed(problems)
        } else if checks
            .iter()
            .any(|check| is(&check, "SUCCESS") && is_own(check))
        {
            Self::Passed
        } else {
            Self::Failed(vec!["no check succeeded".to_owned()])
        }
    }
}

/// Returns whether a check belongs to the scenario, and is not the check of all messages that every scenario includes.
fn is_own(check: &Value) -> bool {
    check["id"] != "wire-schema-valid"
}

fn describe_problem(check: &Value) -> String {
    let text = |key: &str| check[key].as_str().unwrap_or_default();
    let (status, id) = (text("status"), text("id"));
    let message = match text("errorMessage") {
        "" => text("description"),
        message => message,
    };
    format!("{status} {id}: {message}")
}
