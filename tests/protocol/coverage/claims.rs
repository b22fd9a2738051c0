//! Coverage declarations, read from the source of the tests.

use std::collections::BTreeMap;
use std::path::Path;

use treenail::schema::Revision;

use super::{Finding, folder};
use crate::support::covering::{Declaration, is_of_extension};

/// Declaration of a test that it exercises a requirement.
#[derive(Debug)]
pub(super) struct Claim {
    /// Name in `cargo test`.
    pub(super) test: String,
    declaration: Declaration,
    /// True for a known failure: the test passes only while the requirement is violated.
    fails: bool,
}

impl Claim {
    pub(super) fn is_of(&self, id: &str, revision: Revision) -> bool {
        let mut requirements = self.declaration.requirements.iter();
        self.declaration.revisions.contains(&revision) && requirements.any(|other| other.id == id)
    }

    pub(super) fn finding(&self) -> Finding {
        if self.fails {
            Finding::Fails(self.test.clone())
        } else {
            Finding::Covered(self.test.clone())
        }
    }
}

/// Returns the source of each test module by name, without the modules about coverage itself. The names of those in the crate of
/// tasks start with `tasks`.
pub(super) fn sources() -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    read_folder(&folder(), "", &mut sources);
    let tasks = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime/tasks/tests/engine");
    read_folder(&tasks, "tasks::", &mut sources);
    sources.retain(|name, _| name != "support::covering" && !name.starts_with("coverage"));
    sources
}

/// Reads the modules of a folder; `parent` is the prefix of their names.
fn read_folder(folder: &Path, parent: &str, sources: &mut BTreeMap<String, String>) {
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() {
            read_folder(&path, &format!("{parent}{stem}::"), sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = match stem {
                "mod" => parent.trim_end_matches("::").to_owned(),
                _ => format!("{parent}{stem}"),
            };
            sources.insert(name, std::fs::read_to_string(path).unwrap());
        }
    }
}

/// Returns the declarations in a module. Formatted source is assumed: items of the module start in the first column.
pub(super) fn claims(module: &str, text: &str, problems: &mut Vec<String>) -> Vec<Claim> {
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
                // An ignored test covers nothing.
                Ok(_) if attributes.contains("#[ignore") => {}
                Ok(declaration) => claims.push(Claim {
                    test: format!("{module}::{function}"),
                    declaration,
                    fails: attributes.contains("#[should_panic"),
                }),
                Err(problem) => problems.push(format!("{module}::{function}: {problem}")),
            }
        }
        if attributes.contains("test") && !attributes.contains("#[ignore") {
            let fails = attributes.contains("#[should_panic");
            claims.extend(quoted(
                code,
                &format!("{module}::{function}"),
                fails,
                problems,
            ));
        }
        at += line.len();
    }
    claims
}

/// Returns the requirements of extensions whose ids a line of a test quotes.
fn quoted(code: &str, test: &str, fails: bool, problems: &mut Vec<String>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for id in extension_ids(code) {
        match Declaration::of_id(id) {
            Ok(declaration) => claims.push(Claim {
                test: test.to_owned(),
                declaration,
                fails,
            }),
            Err(problem) => problems.push(format!("{test}: {problem}")),
        }
    }
    claims
}

/// Iterates over the ids of requirements of extensions in a text.
fn extension_ids(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    let words = text.split(move |c: char| !is_part(c));
    words.filter(|word| is_of_extension(word))
}

/// Parses the declaration in a call of `covering`.
fn claim(argument: &str, attributes: &str) -> Result<Declaration, String> {
    if !attributes.contains("test") {
        return Err("what is covered is declared, but not in a test".to_owned());
    }
    let literal = argument.trim_start().strip_prefix('"');
    let (literal, _) = literal
        .and_then(|text| text.split_once('"'))
        .ok_or("what is covered is not a literal")?;
    // A literal may continue on the next line.
    let literal: String = literal.split("\\\n").collect();
    Declaration::read(&literal)
}

#[test]
fn invalid_declarations_are_reported() {
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
        let mut problems = Vec::new();
        assert!(claims("file", &text, &mut problems).is_empty());
        assert!(
            problems.len() == 1 && problems[0].contains(expected),
            "{expected}: {problems:?}"
        );
    }
    let mut problems = Vec::new();
    let ignored = format!(
        "#[ignore = \"fails\"]\n{}",
        test(r#"covering("SRV-TOOL-01")"#)
    );
    assert!(
        claims("file", &ignored, &mut problems).is_empty(),
        "what does not run covers nothing"
    );
    let failing = format!(
        "#[should_panic(expected = \"x\")]\n{}",
        test(r#"covering("SRV-TOOL-01")"#)
    );
    assert!(claims("file", &failing, &mut problems)[0].fails);
    let commented = test(r#"// covering("SRV-TOOL-99")"#);
    assert!(claims("file", &commented, &mut problems).is_empty());
    let quoting = test(r#"assert!(true, "TASK-S-04, TASK-C-04: LTASK-B-02"); // TASK-S-05"#);
    let found = claims("file", &quoting, &mut problems);
    let ids = found
        .iter()
        .map(|claim| claim.declaration.requirements[0].id);
    assert_eq!(ids.collect::<Vec<_>>(), ["TASK-S-04", "LTASK-B-02"]);
    let mut unknown = Vec::new();
    assert!(claims("file", &test("\"TASK-S-99\";"), &mut unknown).is_empty());
    assert!(unknown[0].contains("has no TASK-S-99"), "{unknown:?}");
    let good = test(
        "covering(\n        \"SRV-TOOL-01, \\\n         SRV-TOOL-12 since 2025-06-18\",\n    )",
    );
    let found = claims("file", &good, &mut problems);
    assert_eq!(problems, [] as [String; 0]);
    assert_eq!(found[0].test, "file::it");
    assert_eq!(found[0].declaration.requirements.len(), 2);
    assert_eq!(found[0].declaration.revisions.len(), 3);
}
