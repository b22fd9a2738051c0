//! `treenail lock` and `treenail check`, with a server that changes in between.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::process::{Outcome, command, outcome_of, test_server};

/// Runs the program with one version of the server.
fn run(version: &str, args: &[&str]) -> Outcome {
    let mut command = command(&test_server(), args);
    outcome_of(command.arg(version).stdin(Stdio::null()).output().unwrap())
}

fn lock(directory: &Path, more: &[&str]) -> String {
    let file = directory.join("server.lock.json");
    let file = file.to_str().unwrap().to_owned();
    let recorded = run("before", &[&["lock", "-o", &file], more].concat());
    let note = format!("recorded 2 tools, 0 prompts, 0 templates in `{file}`\n");
    recorded.check(0, "", &note);
    file
}

#[test]
fn unchanged_server_matches_its_lock_file() {
    let directory = tempfile::tempdir().unwrap();
    for revision in ["2026-07-28", "2025-11-25"] {
        let file = lock(directory.path(), &["--protocol-version", revision]);
        let text = fs::read_to_string(&file).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["treenailLock"], 1);
        assert_eq!(value["protocolVersion"], revision);
        assert_eq!(value["server"]["name"], "versions");
        assert_eq!(value["tools"][1]["name"], "forget");
        assert!(value.get("resources").is_none());
        // Writing again gives the same bytes, and leaves no temporary file.
        lock(directory.path(), &["--protocol-version", revision]);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        run(
            "before",
            &[
                "check",
                &file,
                "--refuse",
                "wording",
                "--protocol-version",
                revision,
            ],
        )
        .check(0, "no changes\n", "");
        let printed = run(
            "before",
            &["lock", "--protocol-version", revision, "-o", "-"],
        );
        printed.check(0, &text, "");
    }
}

#[test]
fn changes_are_grouped_by_severity() {
    let directory = tempfile::tempdir().unwrap();
    let file = lock(directory.path(), &[]);
    let expected = "\
breaking (1)
  tool `forecast` at /inputSchema/properties/days/maximum: `maximum` allows less
      - 10
      + 7
additive (1)
  tool `forecast` at /inputSchema/properties/units: it is new
wording (1)
  tool `forecast` at /description: changed the description
      - Daily forecast.
      + Daily forecast. Call `forget` first.
";
    run("after", &["check", &file]).check(9, expected, "");
    let other = ["check", &file, "--tool", "forget", "--refuse", "wording"];
    run("after", &other).check(0, "no changes\n", "");

    let checked = run("after", &["check", &file, "--json"]);
    assert_eq!((checked.code, &*checked.stderr), (9, ""));
    let value: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(
        (&value["breaking"], &value["wording"]),
        (&1.into(), &1.into())
    );
    assert_eq!(value["changes"][0]["subject"], "tool");
    assert_eq!(value["changes"][0]["severity"], "breaking");
}

#[test]
fn each_refused_severity_has_an_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let file = lock(directory.path(), &[]);
    let edit = |from: &str, to: &str| {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&file, text.replace(from, to)).unwrap();
    };
    edit("Daily forecast.", "Weather.");
    for (refuse, code) in [("wording", 11), ("additive", 0), ("breaking", 0)] {
        let checked = run("before", &["check", &file, "--refuse", refuse]);
        assert_eq!((checked.code, &*checked.stderr), (code, ""), "{refuse}");
        assert!(
            checked.stdout.starts_with("wording (1)\n"),
            "{}",
            checked.stdout
        );
    }
    edit("\"maximum\": 10", "\"maximum\": 9");
    for (refuse, code) in [("wording", 10), ("additive", 10), ("breaking", 0)] {
        let checked = run("before", &["check", &file, "--refuse", refuse]);
        assert_eq!((checked.code, &*checked.stderr), (code, ""), "{refuse}");
    }
}

#[test]
fn resources_are_recorded_with_the_option() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.json");
    let file = file.to_str().unwrap();
    let recorded = run("before", &["lock", "--resources", "-o", file]);
    let note = format!("recorded 2 tools, 0 prompts, 0 templates, 1 resource in `{file}`\n");
    recorded.check(0, "", &note);
    let checked = run("after", &["check", file]);
    let expected = "  resource `place://here`: it is gone\n";
    assert!(checked.stdout.contains(expected), "{}", checked.stdout);
}

#[test]
fn invalid_lock_files_are_rejected_before_the_server_starts() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.json");
    let name = file.to_str().unwrap();
    let check = |stderr: &str| {
        let mut command = command(Path::new("/nowhere"), &["check", name]);
        let checked = outcome_of(command.stdin(Stdio::null()).output().unwrap());
        assert_eq!((checked.code, &*checked.stdout), (8, ""));
        assert!(checked.stderr.contains(stderr), "{}", checked.stderr);
    };
    check("No such file");
    fs::write(&file, "{}").unwrap();
    check("not a lock file: it has no member `treenailLock`");
    fs::write(&file, "{\"treenailLock\": 1, \"tools\": 3}").unwrap();
    check("expected a sequence, at line 1, column 30, in `tools`");

    let nowhere = directory.path().join("nowhere").join("a.json");
    let checked = run("before", &["lock", "-o", nowhere.to_str().unwrap()]);
    assert_eq!(checked.code, 8, "{}", checked.stderr);
    fs::write(&file, "{\"treenailLock\": 1}").unwrap();
    let checked = run("before", &["check", name, "--tool", "x"]);
    assert_eq!(checked.code, 2);
    assert!(
        checked.stderr.contains("the contract has no tool `x`"),
        "{}",
        checked.stderr
    );
}
