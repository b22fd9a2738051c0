//! What the tests claim to cover, read from their source.

use std::collections::BTreeMap;
use std::path::Path;

use treenail::schema::Revision;

use super::{Finding, folder};
use crate::covering::Declaration;

/// A test's claim to exercise a requirement.
#[derive(Debug)]
pub(super) struct Claim {
    /// As `cargo test` knows it.
    pub(super) test: String,
    declaration: Declaration,
    /// It is known to fail, and passes only as long as it does.
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

/// The modules with tests, by name; not those that speak of declarations.
pub(super) fn sources() -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    read_folder(&folder(), "", &mut sources);
    sources.retain(|name, _| name != "covering" && !name.starts_with("coverage"));
    sources
}

/// Reads the modules of a folder; `parent` is what their names begin with.
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

/// What the tests of a module claim. The source is formatted: what belongs to a module begins at the margin.
pub(super) fn claims(module: &str, text: &str, flaws: &mut Vec<String>) -> Vec<Claim> {
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
                // A test that does not run covers nothing.
                Ok(_) if attributes.contains("#[ignore") => {}
                Ok(declaration) => claims.push(Claim {
                    test: format!("{module}::{function}"),
                    declaration,
                    fails: attributes.contains("#[should_panic"),
                }),
                Err(flaw) => flaws.push(format!("{module}::{function}: {flaw}")),
            }
        }
        at += line.len();
    }
    claims
}

/// What the call of `covering` declares.
fn claim(argument: &str, attributes: &str) -> Result<Declaration, String> {
    if !attributes.contains("test") {
        return Err("what is covered is declared, but not in a test".to_owned());
    }
    let literal = argument.trim_start().strip_prefix('"');
    let (literal, _) = literal
        .and_then(|text| text.split_once('"'))
        .ok_or("what is covered is not a literal")?;
    // A literal may go on in the next line.
    let literal: String = literal.split("\\\n").collect();
    Declaration::read(&literal)
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
    let failing = format!(
        "#[should_panic(expected = \"x\")]\n{}",
        test(r#"covering("SRV-TOOL-01")"#)
    );
    assert!(claims("file", &failing, &mut flaws)[0].fails);
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
