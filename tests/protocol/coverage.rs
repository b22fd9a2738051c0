//! Which requirements are covered by which tests, in which revisions; the list is `COVERAGE.md`, and the reasons for
//! what is not covered are in `not_covered.tsv`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use treenail::schema::Revision;

use crate::covering::{Declaration, Requirement, requirements, revision, scope_of};

/// A test's claim to exercise a requirement.
#[derive(Debug)]
struct Claim {
    /// As `cargo test` knows it.
    test: String,
    declaration: Declaration,
}

/// A line of `not_covered.tsv`: in which of its revisions a requirement is not covered, and why.
#[derive(Debug)]
struct Reason {
    id: String,
    revisions: Vec<Revision>,
    text: String,
}

/// One requirement, and what was found about it in each of its revisions.
#[derive(Debug)]
struct Line {
    requirement: &'static Requirement,
    covered: BTreeMap<String, Vec<Revision>>,
    reasons: BTreeMap<String, Vec<Revision>>,
    /// Neither covered nor reasoned about.
    open: Vec<Revision>,
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
fn flaws_of_declarations_are_found() {
    let test = |body: &str| format!("#[tokio::test]\nasync fn it() {{\n    {body}\n}}\n");
    let table = [
        (test(r#"covering("SRV-TOOL-99")"#), "has no SRV-TOOL-99"),
        (
            test(r#"covering("SRV-TOOL-12 in 2024-11-05")"#),
            "SRV-TOOL-12 is not in these revisions",
        ),
        (
            test(r#"covering("SRV-TOOL-01 in 2024-11-06")"#),
            "no revision 2024-11-06",
        ),
        (
            test(r#"covering("SRV-TOOL-01 after 2024-11-05")"#),
            "write `since`",
        ),
        (
            test(r#"covering("in 2024-11-05")"#),
            "no requirement is named",
        ),
        (test("covering(IDS)"), "not a literal"),
        (
            r#"fn helper() { covering("SRV-TOOL-01"); }"#.to_owned(),
            "not in a test",
        ),
    ];
    for (text, expected) in table {
        let mut flaws = Vec::new();
        assert!(claims("file", &text, &mut flaws).is_empty());
        assert!(
            flaws.len() == 1 && flaws[0].contains(expected),
            "{expected}: {flaws:?}"
        );
    }
    let mut flaws = Vec::new();
    let ignored = format!(
        "#[ignore = \"fails\"]\n{}",
        test(r#"covering("SRV-TOOL-01")"#)
    );
    assert!(
        claims("file", &ignored, &mut flaws).is_empty(),
        "what does not run covers nothing"
    );
    let commented = test(r#"// covering("SRV-TOOL-99")"#);
    assert!(claims("file", &commented, &mut flaws).is_empty());
    let good = test(
        "covering(\n        \"SRV-TOOL-01, \\\n         SRV-TOOL-12 since 2025-06-18\",\n    )",
    );
    let found = claims("file", &good, &mut flaws);
    assert_eq!(flaws, [] as [String; 0]);
    assert_eq!(found[0].test, "file::it");
    assert_eq!(found[0].declaration.requirements.len(), 2);
    assert_eq!(found[0].declaration.revisions.len(), 3);
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocol")
}

/// The modules with tests, by name; not those that speak of declarations.
fn sources() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder()).unwrap();
    files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .filter(|(name, _)| name != "coverage" && name != "covering")
        .collect()
}

/// What the tests of a module claim. The source is formatted: what belongs to a module begins at the margin.
fn claims(module: &str, text: &str, flaws: &mut Vec<String>) -> Vec<Claim> {
    let mut claims = Vec::new();
    let (mut attributes, mut function) = (String::new(), String::new());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("#[") {
            attributes.push_str(line);
        } else if let Some((_, name)) = line
            .split_once("fn ")
            .filter(|_| !line.starts_with([' ', '/']))
        {
            name[..name.find(['(', '<']).unwrap_or(0)].clone_into(&mut function);
        } else if line.starts_with('}') {
            attributes.clear();
        }
        let code = line.split("//").next().unwrap_or_default();
        for call in ["covering(", "covering_one("] {
            let Some(argument) = code.find(call).map(|found| at + found + call.len()) else {
                continue;
            };
            match claim(&text[argument..], &attributes) {
                Ok(Some(declaration)) => claims.push(Claim {
                    test: format!("{module}::{function}"),
                    declaration,
                }),
                Ok(None) => {}
                Err(flaw) => flaws.push(format!("{module}::{function}: {flaw}")),
            }
        }
        at += line.len();
    }
    claims
}

/// What the call of `covering` declares, unless its test is ignored.
fn claim(argument: &str, attributes: &str) -> Result<Option<Declaration>, String> {
    if !attributes.contains("test") {
        return Err("what is covered is declared, but not in a test".to_owned());
    }
    let literal = argument.trim_start().strip_prefix('"');
    let (literal, _) = literal
        .and_then(|text| text.split_once('"'))
        .ok_or("what is covered is not a literal")?;
    // A literal may go on in the next line.
    let literal: String = literal.split("\\\n").collect();
    let declaration = Declaration::read(&literal)?;
    Ok((!attributes.contains("#[ignore")).then_some(declaration))
}

fn reasons(flaws: &mut Vec<String>) -> Vec<Reason> {
    let lines = include_str!("not_covered.tsv").lines().skip(1);
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
    let mut line = Line {
        requirement,
        covered: BTreeMap::new(),
        reasons: BTreeMap::new(),
        open: Vec::new(),
    };
    for &revision in &requirement.revisions {
        let tests: Vec<_> = claims
            .iter()
            .filter(|claim| claim.declaration.revisions.contains(&revision))
            .filter(|claim| {
                claim
                    .declaration
                    .requirements
                    .iter()
                    .any(|other| other.id == requirement.id)
            })
            .collect();
        let reason = reasons
            .iter()
            .find(|reason| reason.id == requirement.id && reason.revisions.contains(&revision));
        match (&tests[..], reason) {
            ([], Some(reason)) => line.reasons.entry(reason.text.clone()).or_default().push(revision),
            ([], None) => {
                line.open.push(revision);
                if requirement.level != "MAY" {
                    flaws.push(format!(
                        "{} is not covered in {revision}, and `not_covered.tsv` has no reason for that",
                        requirement.id
                    ));
                }
            }
            ([test, ..], Some(_)) => flaws.push(format!(
                "{} is covered in {revision} by {}, but `not_covered.tsv` has a reason why it is not",
                requirement.id, test.test
            )),
            (_, None) => {}
        }
        for test in tests {
            let revisions = line.covered.entry(test.test.clone()).or_default();
            if !revisions.contains(&revision) {
                revisions.push(revision);
            }
        }
    }
    line
}

impl Line {
    fn is_covered(&self) -> bool {
        self.reasons.is_empty() && self.open.is_empty()
    }

    /// Who covers the requirement and why it is not covered, each with the revisions unless they are all.
    fn findings(&self) -> String {
        let tests = self
            .covered
            .iter()
            .map(|(test, revisions)| (format!("`{test}`"), revisions));
        let reasons = self
            .reasons
            .iter()
            .map(|(text, revisions)| (format!("**not**: {text}"), revisions));
        let open =
            (!self.open.is_empty()).then(|| ("not, and it is optional".to_owned(), &self.open));
        let findings = tests.chain(reasons).chain(open).map(|(text, revisions)| {
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

fn list(lines: &[Line]) -> String {
    let mut list = String::from(
        "# Requirements, and the tests that cover them\n\n\
         Written by `UPDATE=1 cargo test --test protocol coverage` from the declarations in the tests, `requirements.tsv` and\n\
         `not_covered.tsv`; do not edit. Every requirement of a server is here, of those areas that a server in memory can be\n\
         tested for: `SRV` is asked of servers, `ALL` of both sides. A requirement is covered in a revision if a test that runs\n\
         in that revision says so.\n\n",
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
