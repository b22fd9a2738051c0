//! `treenail new`. The script `.ci/templates` builds and tests the projects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Outcome, run_alone};

const TEMPLATES: [&str; 5] = ["stdio", "http", "client", "agent", "contract"];

fn new(folder: &Path, more: &[&str]) -> Outcome {
    run_alone(&[&["new", folder.to_str().unwrap()], more].concat())
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

/// Returns the paths of all files in a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn projects_have_all_files_and_are_formatted() {
    let home = tempfile::tempdir().unwrap();
    for template in TEMPLATES {
        let folder = home.path().join(format!("zebra-{template}"));
        let checkout = checkout();
        let more = [
            "--template",
            template,
            "--treenail-path",
            checkout.to_str().unwrap(),
        ];
        let outcome = new(&folder, &more);
        assert_eq!(
            (outcome.code, &*outcome.stdout),
            (0, ""),
            "{}",
            outcome.stderr
        );
        for file in [
            "Cargo.toml",
            "README.md",
            "AGENTS.md",
            "Dockerfile",
            ".dockerignore",
            ".gitignore",
            ".github/workflows/ci.yml",
        ] {
            assert!(folder.join(file).is_file(), "{template}: {file}");
        }
        let mut found = Vec::new();
        files(&folder, &mut found);
        let sources = found
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let mut rustfmt = Command::new("rustfmt");
        let formatted = rustfmt
            .args(["--check", "--edition", "2024"])
            .args(sources)
            .output()
            .unwrap();
        let difference = String::from_utf8_lossy(&formatted.stdout);
        assert!(formatted.status.success(), "{template}: {difference}");
    }
}

fn check_manifest(folder: &Path) {
    let mut cargo = Command::new("cargo");
    // Dependencies are not resolved, so there is no registry to ask.
    cargo.args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]);
    let metadata = cargo.current_dir(folder).output().unwrap();
    let error = String::from_utf8_lossy(&metadata.stderr);
    let place = folder.display();
    assert!(metadata.status.success(), "{place}: {error}");
}

#[test]
fn manifests_are_valid_with_a_version_and_with_a_path() {
    let home = tempfile::tempdir().unwrap();
    for template in TEMPLATES {
        let folder = home.path().join(template);
        assert_eq!(new(&folder, &["--template", template]).code, 0);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let dependency = format!("treenail = {{ version = \"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(manifest.contains(&dependency), "{manifest}");
        check_manifest(&folder);
    }
}

#[test]
fn projects_can_be_created_within_a_workspace() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    for template in TEMPLATES {
        let folder = home.path().join(template);
        assert_eq!(new(&folder, &["--template", template]).code, 0);
        let mut cargo = Command::new("cargo");
        cargo.args(["locate-project", "--workspace", "--message-format", "plain"]);
        let located = cargo.current_dir(&folder).output().unwrap();
        let root = String::from_utf8_lossy(&located.stdout);
        let expected = folder.canonicalize().unwrap().join("Cargo.toml");
        assert_eq!(
            Path::new(root.trim()).canonicalize().unwrap(),
            expected,
            "{template}"
        );
        check_manifest(&folder);
    }
}

#[test]
fn existing_files_are_never_overwritten() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("calculator");
    fs::create_dir(&folder).unwrap();
    assert_eq!(new(&folder, &[]).code, 0);
    let again = new(&folder, &[]);
    let message = format!("error: the folder `{}` is not empty\n", folder.display());
    again.check(2, "", &message);
}

#[test]
fn unusable_names_and_paths_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let error = |name: &str, more: &[&str]| {
        let folder = home.path().join(name);
        let outcome = new(&folder, more);
        assert_eq!(outcome.code, 2);
        assert!(!folder.exists());
        outcome.stderr
    };
    let space = error("my server", &[]);
    assert!(
        space.contains("' ' is not allowed; use a-z, 0-9, `-` and `_`"),
        "{space}"
    );
    assert!(error("async", &[]).contains("keyword of Rust"));
    assert!(error("tokio", &[]).contains("name of a library"));
    let path = home.path().to_str().unwrap();
    let other = error("calculator", &["--treenail-path", path]);
    assert!(
        other.contains("expected the folder of the package `treenail`"),
        "{other}"
    );
}
