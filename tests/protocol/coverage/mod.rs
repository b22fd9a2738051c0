//! Coverage of the requirements by tests, per revision. `COVERAGE.md` is the generated list; `not_covered.tsv` has the
//! reasons for missing coverage.

mod claims;
mod ids;
mod list;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use treenail::schema::Revision;

use self::claims::{Claim, claims, sources};
use self::list::list;
use crate::support::covering::{Requirement, requirements, revision, scope_of};

/// A line of `not_covered.tsv`: the revisions in which a requirement is not covered, and the reason.
#[derive(Debug)]
struct Reason {
    id: String,
    revisions: Vec<Revision>,
    text: String,
}

/// A requirement with its findings (tests and reasons) and the revisions to which each applies.
#[derive(Debug)]
struct Line {
    requirement: &'static Requirement,
    findings: BTreeMap<Finding, Vec<Revision>>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Finding {
    Covered(String),
    /// By a test that demonstrates a violation.
    Fails(String),
    NotCovered(String),
    /// Not covered, which is acceptable for an optional requirement.
    Optional,
}

#[test]
fn each_requirement_is_covered_or_has_a_reason_and_the_list_is_current() {
    let mut problems = Vec::new();
    let claims: Vec<_> = sources()
        .iter()
        .flat_map(|(name, text)| claims(name, text, &mut problems))
        .collect();
    let reasons = reasons(&mut problems);
    let lines: Vec<_> = requirements()
        .iter()
        .map(|requirement| line(requirement, &claims, &reasons, &mut problems))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));

    let (path, list) = (folder().join("COVERAGE.md"), list(&lines));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, list).unwrap();
    } else {
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == list,
            "COVERAGE.md is stale: run `UPDATE=1 cargo test --test protocol coverage`, and commit what it wrote"
        );
    }
}

#[test]
fn the_table_of_requirements_is_valid() {
    let mut ids = BTreeSet::new();
    for requirement in requirements() {
        let Requirement {
            id,
            level,
            revisions,
            about,
        } = requirement;
        assert!(ids.insert(id), "{id} is a duplicate");
        let levels = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"];
        assert!(levels.contains(level), "{id} is {level}");
        assert!(!revisions.is_empty() && !about.is_empty(), "{id} is empty");
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocol")
}

fn reasons(problems: &mut Vec<String>) -> Vec<Reason> {
    let lines = include_str!("../not_covered.tsv").lines().skip(1);
    lines
        .filter_map(|line| {
            let reason = reason(line);
            reason
                .map_err(|problem| problems.push(format!("not_covered.tsv: {line}: {problem}")))
                .ok()
        })
        .collect()
}

fn reason(line: &str) -> Result<Reason, String> {
    let fields: Vec<_> = line.split('\t').collect();
    let [id, scope, text] = fields[..] else {
        return Err("not an id, revisions and a reason".to_owned());
    };
    let requirement = requirements()
        .iter()
        .find(|requirement| requirement.id == id);
    let requirement = requirement.ok_or("there is no such requirement")?;
    let mut words = scope.split([',', ' ']).filter(|word| !word.is_empty());
    let word = words.next();
    let mut revisions = scope_of(word, words.map(revision).collect::<Result<_, _>>()?)?;
    revisions.retain(|revision| requirement.revisions.contains(revision));
    if revisions.is_empty() || text.is_empty() {
        return Err("no revision, or no reason".to_owned());
    }
    Ok(Reason {
        id: id.to_owned(),
        revisions,
        text: text.to_owned(),
    })
}

fn line(
    requirement: &'static Requirement,
    claims: &[Claim],
    reasons: &[Reason],
    problems: &mut Vec<String>,
) -> Line {
    let id = requirement.id;
    let mut findings: BTreeMap<Finding, Vec<Revision>> = BTreeMap::new();
    for &revision in &requirement.revisions {
        let mut claims = claims
            .iter()
            .filter(|claim| claim.is_of(id, revision))
            .peekable();
        let mut reasons = reasons.iter().filter(|reason| reason.is_of(id, revision));
        let found = match (claims.peek(), reasons.next()) {
            (None, Some(reason)) => Some(Finding::NotCovered(reason.text.clone())),
            (None, None) if requirement.level == "MAY" => Some(Finding::Optional),
            (None, None) => {
                problems.push(format!(
                    "{id} is not covered in {revision}, and `not_covered.tsv` has no reason for that"
                ));
                None
            }
            (Some(claim), Some(_)) => {
                problems.push(format!(
                    "{id} is covered in {revision} by {}, but `not_covered.tsv` has a reason why it is not",
                    claim.test
                ));
                None
            }
            (Some(_), None) => None,
        };
        if reasons.next().is_some() {
            problems.push(format!(
                "`not_covered.tsv` has two reasons for {id} in {revision}"
            ));
        }
        for finding in claims.map(Claim::finding).chain(found) {
            let revisions = findings.entry(finding).or_default();
            if !revisions.contains(&revision) {
                revisions.push(revision);
            }
        }
    }
    Line {
        requirement,
        findings,
    }
}

impl Reason {
    fn is_of(&self, id: &str, revision: Revision) -> bool {
        self.id == id && self.revisions.contains(&revision)
    }
}

impl Line {
    fn is_covered(&self) -> bool {
        let mut findings = self.findings.keys();
        findings.all(|finding| matches!(finding, Finding::Covered(_)))
    }
}
