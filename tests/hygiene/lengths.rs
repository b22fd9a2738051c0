//! Lengths of the Rust files that git tracks.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Maximum number of lines of a file.
const LIMIT: usize = 300;

/// Longer files, which `cargo codegen` writes.
const EXCEPTIONS: [&str; 3] = [
    "schema/src/generated/methods.rs",
    "schema/src/generated/revisions.rs",
    "schema/src/generated/types.rs",
];

#[test]
fn a_file_has_at_most_300_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--", "*.rs"])
        .current_dir(root)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&listed.stderr);
    assert!(listed.status.success(), "`git ls-files` failed: {errors}");
    let names = String::from_utf8(listed.stdout).unwrap();
    let mut too_long = Vec::new();
    for name in names.split_terminator('\0') {
        // A file that is deleted but not yet removed from the index has no lines.
        let text = fs::read(root.join(name)).unwrap_or_default();
        let lines = text.split_inclusive(|byte| *byte == b'\n').count();
        if lines > LIMIT && !EXCEPTIONS.contains(&name) {
            too_long.push((lines, name));
        }
    }
    too_long.sort_unstable();
    let problems: Vec<_> = too_long
        .iter()
        .rev()
        .map(|(lines, name)| {
            format!(
                "`{name}` has {lines} lines, and at most {LIMIT} are allowed: move its second question to a file of its own"
            )
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
