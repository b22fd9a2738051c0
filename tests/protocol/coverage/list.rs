//! `COVERAGE.md`, the list for people.

use std::fmt::Write;

use treenail::schema::Revision;

use super::{Finding, Line};
use crate::covering::Requirement;

impl Line {
    /// Who covers the requirement and why it is not covered, each with the revisions unless they are all.
    fn findings(&self) -> String {
        let findings = self.findings.iter().map(|(finding, revisions)| {
            let text = match finding {
                Finding::Covered(test) => format!("`{test}`"),
                Finding::Fails(test) => format!("**fails**: `{test}`"),
                Finding::NotCovered(reason) => format!("**not**: {reason}"),
                Finding::Optional => "not, and it is optional".to_owned(),
            };
            if *revisions == self.requirement.revisions {
                return text;
            }
            format!("{text} ({})", span(revisions))
        });
        findings.collect::<Vec<_>>().join("<br>")
    }
}

/// `2025-06-18 …` for what goes on until the newest revision, `… 2025-11-25` for what began with the first one.
fn span(revisions: &[Revision]) -> String {
    let (first, last) = (revisions[0], revisions[revisions.len() - 1]);
    let between = Revision::ALL
        .into_iter()
        .filter(|revision| (first..=last).contains(revision));
    match (first, last) {
        _ if between.count() != revisions.len() => revisions
            .iter()
            .map(|revision| revision.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        (Revision::V2024_11_05, Revision::LATEST) => "all".to_owned(),
        _ if first == last => first.to_string(),
        (Revision::V2024_11_05, _) => format!("… {last}"),
        (_, Revision::LATEST) => format!("{first} …"),
        _ => format!("{first} … {last}"),
    }
}

pub(super) fn list(lines: &[Line]) -> String {
    let mut list = String::from(
        "# Requirements, and the tests that cover them\n\n\
         Written by `UPDATE=1 cargo test --test protocol coverage` from the declarations in the tests, `requirements.tsv` and\n\
         `not_covered.tsv`; do not edit. Every requirement of a server is here, of those areas that a server in memory can be\n\
         tested for: `SRV` is asked of servers, `ALL` of both sides. A requirement is covered in a revision if a test that runs\n\
         in that revision says so, and passes; one that is known to fail is listed with what it is about.\n\n",
    );
    let mut areas: Vec<(&str, Vec<&Line>)> = Vec::new();
    for line in lines {
        match areas.last_mut() {
            Some((area, lines)) if *area == line.requirement.area() => lines.push(line),
            _ => areas.push((line.requirement.area(), vec![line])),
        }
    }
    let binding = lines.iter().filter(|line| line.requirement.level != "MAY");
    let total: Vec<_> = binding.collect();
    list.push_str(
        "| area | MUST and SHOULD | covered | not, or not in each revision |\n|---|---|---|---|\n",
    );
    let rows = areas.iter().map(|(area, lines)| (*area, lines.clone()));
    for (area, lines) in rows.chain([("all", total)]) {
        let binding: Vec<_> = lines
            .iter()
            .filter(|line| line.requirement.level != "MAY")
            .collect();
        let covered = binding.iter().filter(|line| line.is_covered()).count();
        writeln!(
            list,
            "| {area} | {} | {covered} | {} |",
            binding.len(),
            binding.len() - covered
        )
        .unwrap();
    }
    for (area, lines) in &areas {
        write!(list, "\n## {area}\n\n| id | level | revisions | about | covered by |\n|---|---|---|---|---|\n").unwrap();
        for line in lines {
            let Requirement {
                id,
                level,
                revisions,
                about,
            } = line.requirement;
            writeln!(
                list,
                "| {id} | {level} | {} | {about} | {} |",
                span(revisions),
                line.findings()
            )
            .unwrap();
        }
    }
    list
}
