//! Ids of all requirements, also of those that other test programs exercise: `ids.tsv` has the numbers of each group.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use super::folder;
use crate::support::covering::requirements;

/// Returns the numbers of each group, such as `SRV-TOOL`.
fn groups() -> BTreeMap<&'static str, RangeInclusive<u32>> {
    let lines = include_str!("../ids.tsv").lines().skip(1);
    let groups = lines.map(|line| {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_else(|| panic!("too short: {line}"));
        let (group, first, last) = (next(), next(), next());
        (group, first.parse().unwrap()..=last.parse().unwrap())
    });
    groups.collect()
}

/// Returns the groups of requirements for servers, or for both sides, of which the list has none.
pub(super) fn omitted_groups() -> Vec<&'static str> {
    let is_listed = |group: &str| {
        let mut requirements = requirements().iter();
        requirements.any(|requirement| split(requirement.id).0 == group)
    };
    let is_of_servers = |group: &&str| {
        let (kind, side) = group.split_once('-').unwrap();
        matches!(kind, "SRV" | "ALL") || matches!(side, "S" | "B")
    };
    let groups = groups().into_keys().filter(is_of_servers);
    groups.filter(|group| !is_listed(group)).collect()
}

/// Splits an id into its group and its number.
fn split(id: &str) -> (&str, &str) {
    id.rsplit_once('-').unwrap()
}

/// Returns the quoted ids that do not exist.
fn unknown_ids(text: &str) -> Vec<&str> {
    let groups = groups();
    let is_kind = |kind: &str| {
        groups
            .keys()
            .any(|group| group.split('-').next() == Some(kind))
    };
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    let words = text.split(|c| !is_part(c)).filter(|word| {
        let parts: Vec<_> = word.split('-').collect();
        matches!(parts[..], [kind, _, number] if is_kind(kind) && number.parse::<u32>().is_ok())
    });
    let is_known = |id: &&str| {
        let (group, number) = split(id);
        let numbers = groups.get(group);
        number.len() >= 2 && numbers.is_some_and(|range| range.contains(&number.parse().unwrap()))
    };
    words.filter(|id| !is_known(id)).collect()
}

/// Collects the ids in the sources of a folder that do not exist, each with its file.
fn collect_unknown(folder: &Path, unknown: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            let is_foreign = name.starts_with('.') || name == "target" || name == "node_modules";
            // The tests of this module quote ids that do not exist.
            if !is_foreign && !path.ends_with("tests/protocol/coverage") {
                collect_unknown(&path, unknown);
            }
        } else if name.ends_with(".rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let ids = unknown_ids(&text).into_iter();
            unknown.extend(ids.map(|id| format!("{}: {id}", path.display())));
        }
    }
}

#[test]
fn ids_in_all_sources_are_known() {
    let mut unknown = Vec::new();
    collect_unknown(Path::new(env!("CARGO_MANIFEST_DIR")), &mut unknown);
    assert!(
        unknown.is_empty(),
        "not in `tests/protocol/ids.tsv`:\n{}",
        unknown.join("\n")
    );
}

#[test]
fn unknown_ids_are_found() {
    let text = r#""SRV-TOOL-01, CLI-HTTP-99: AUTH-C-135" "SRV-TOOLS-01" (TASK-S-99) EXT-S-1 SRV-TOOL UTF-8-01 A-B-01"#;
    let unknown = ["CLI-HTTP-99", "SRV-TOOLS-01", "TASK-S-99", "EXT-S-1"];
    assert_eq!(unknown_ids(text), unknown);
}

#[test]
fn the_table_of_requirements_has_groups_in_whole_and_only_known_ids() {
    let table = std::fs::read_to_string(folder().join("requirements.tsv")).unwrap();
    assert_eq!(unknown_ids(&table), [] as [&str; 0]);
    let omitted = omitted_groups();
    for requirement in requirements() {
        let (group, _) = split(requirement.id);
        assert!(!omitted.contains(&group));
        for number in groups().remove(group).unwrap() {
            let id = format!("{group}-{number:02}");
            let mut ids = requirements().iter().map(|requirement| requirement.id);
            assert!(ids.any(|listed| listed == id), "{id} is missing");
        }
    }
}
