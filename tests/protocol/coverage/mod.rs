//! Which requirements are covered by which tests, in which revisions; the list is `COVERAGE.md`, and the reasons for
//! what is not covered are in `not_covered.tsv`.

mod claims;
mod list;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use treenail::schema::Revision;

use self::claims::{Claim, claims, sources};
use self::list::list;
use crate::covering::{Requirement, requirements, revision, scope_of};

/// A line of `not_covered.tsv`: in which of its revisions a requirement is not covered, and why.
#[derive(Debug)]
struct Reason {
    id: String,
    revisions: Vec<Revision>,
    text: String,
}

/// One requirement, and what was found about it: tests, reasons, each with the revisions that it is true in.
#[derive(Debug)]
struct Line {
    requirement: &'static Requirement,
    findings: BTreeMap<Finding, Vec<Revision>>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Finding {
    Covered(String),
    /// By a test that shows that it does not hold.
    Fails(String),
    NotCovered(String),
    /// Not covered, which an optional requirement need not be.
    Optional,
}

#[test]
fn each_requirement_is_covered_or_has_a_reason_and_the_list_is_fresh() {
    let mut flaws = Vec::new();
    let claims: Vec<_> = sources()
        .iter()
        .flat_map(|(name, text)| claims(name, text, &mut flaws))
        .collect();
    let reasons = reasons(&mut flaws);
    let lines: Vec<_> = requirements()
        .iter()
        .map(|requirement| line(requirement, &claims, &reasons, &mut flaws))
        .collect();
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));

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
fn ids_in_the_tests_are_known() {
    for (name, text) in sources() {
        for (at, _) in text.match_indices("SRV-").chain(text.match_indices("ALL-")) {
            let rest = &text[at..];
            let end =
                rest.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-'));
            let id = &rest[..end.unwrap_or(rest.len())];
            let known = requirements().iter().any(|known| known.id == id);
            assert!(
                known,
                "{name}.rs names {id}, which `requirements.tsv` does not have"
            );
        }
    }
}

#[test]
fn the_table_of_requirements_is_sound() {
    let mut ids = BTreeSet::new();
    for requirement in requirements() {
        let Requirement {
            id,
            level,
            revisions,
            about,
        } = requirement;
        assert!(ids.insert(id), "{id} is there twice");
        assert!(
            id.starts_with("SRV-") || id.starts_with("ALL-"),
            "{id} is of neither side"
        );
        let levels = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"];
        assert!(levels.contains(level), "{id} is {level}");
        assert!(
            !revisions.is_empty() && !about.is_empty(),
            "{id} says nothing"
        );
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocol")
}

fn reasons(flaws: &mut Vec<String>) -> Vec<Reason> {
    let lines = include_str!("../not_covered.tsv").lines().skip(1);
    lines
        .filter_map(|line| {
            let reason = reason(line);
            reason
                .map_err(|flaw| flaws.push(format!("not_covered.tsv: {line}: {flaw}")))
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
    flaws: &mut Vec<String>,
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
                flaws.push(format!(
                    "{id} is not covered in {revision}, and `not_covered.tsv` has no reason for that"
                ));
                None
            }
            (Some(claim), Some(_)) => {
                flaws.push(format!(
                    "{id} is covered in {revision} by {}, but `not_covered.tsv` has a reason why it is not",
                    claim.test
                ));
                None
            }
            (Some(_), None) => None,
        };
        if reasons.next().is_some() {
            flaws.push(format!(
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
