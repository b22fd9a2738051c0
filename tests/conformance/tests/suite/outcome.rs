//! How the scenarios of one run went, from the files that the suite writes.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde_json::Value;

/// How one scenario went.
pub(crate) enum Outcome {
    Passed,
    /// With what did not succeed.
    Failed(Vec<String>),
}

/// The scenarios by their names: a folder `server-<name>-<time>`, or `<name>-<time>` where a client is tested, has the file
/// `checks.json` of each. A name with a slash is a folder in a folder.
pub(crate) fn outcomes(folder: &Path) -> io::Result<BTreeMap<String, Outcome>> {
    let mut outcomes = BTreeMap::new();
    collect(folder, "", &mut outcomes)?;
    Ok(outcomes)
}

fn collect(folder: &Path, group: &str, outcomes: &mut BTreeMap<String, Outcome>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let checks = path.join("checks.json");
        if checks.is_file() {
            let checks: Vec<Value> = serde_json::from_slice(&fs::read(checks)?)?;
            let name = format!("{group}{}", scenario(&name));
            outcomes.insert(name, Outcome::of(&checks));
        } else if path.is_dir() {
            collect(&path, &format!("{group}{name}/"), outcomes)?;
        }
    }
    Ok(())
}

/// The name of the scenario in that of its folder.
fn scenario(folder: &str) -> &str {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    // `…-2026-11-22T03-52-00-000Z`
    let time = "-2026-11-22T03-52-00-000Z".len();
    name.len()
        .checked_sub(time)
        .and_then(|end| name.get(..end))
        .unwrap_or(name)
}

impl Outcome {
    fn of(checks: &[Value]) -> Self {
        let is = |check: &&Value, status: &str| check["status"] == status;
        let problems: Vec<_> = checks
            .iter()
            .filter(|check| is(check, "FAILURE") || is(check, "WARNING"))
            .map(problem)
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

/// Whether a check is one of the scenario, and not the one of all messages that comes with each.
fn is_own(check: &Value) -> bool {
    check["id"] != "wire-schema-valid"
}

fn problem(check: &Value) -> String {
    let text = |key: &str| check[key].as_str().unwrap_or_default();
    let (status, id) = (text("status"), text("id"));
    let message = match text("errorMessage") {
        "" => text("description"),
        message => message,
    };
    format!("{status} {id}: {message}")
}
