//! `treenail lock` and `treenail check`: a server that changes between the one and the other.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::run::{Ended, command, ended, test_server};

/// Runs the program with one of the versions of a server.
fn run(version: &str, args: &[&str]) -> Ended {
    let mut command = command(&test_server(), args);
    ended(command.arg(version).stdin(Stdio::null()).output().unwrap())
}

fn lock(directory: &Path, more: &[&str]) -> String {
    let file = directory.join("server.lock.json");
    let file = file.to_str().unwrap().to_owned();
    let recorded = run("before", &[&["lock", "-o", &file], more].concat());
    let what = format!("2 tools, 0 prompts, 0 templates recorded in `{file}`\n");
    recorded.check(0, "", &what);
    file
}

#[test]
fn a_server_that_has_not_changed_is_what_its_lock_file_says() {
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
        // The same bytes once more, in the place of the old file and without anything beside it.
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
fn a_server_that_has_changed_is_told_of_by_severity() {
    let directory = tempfile::tempdir().unwrap();
    let file = lock(directory.path(), &[]);
    let expected = "\
breaking (1)
  tool `forecast` at /inputSchema/properties/days/maximum: `maximum` allows less
      - 10
      + 7
additive (1)
  tool `forecast` at /inputSchema/properties/units: added
wording (1)
  tool `forecast` at /description: changed the description
      - Daily forecast.
      + Daily forecast. Call `forget` first.
";
    run("after", &["check", &file]).check(9, expected, "");
    let other = ["check", &file, "--tool", "forget", "--refuse", "wording"];
    run("after", &other).check(0, "no changes\n", "");

    let told = run("after", &["check", &file, "--json"]);
    assert_eq!((told.code, &*told.stderr), (9, ""));
    let value: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(
        (&value["breaking"], &value["wording"]),
        (&1.into(), &1.into())
    );
    assert_eq!(value["changes"][0]["subject"], "tool");
    assert_eq!(value["changes"][0]["severity"], "breaking");
}

#[test]
fn each_severity_has_an_exit_code_where_it_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = lock(directory.path(), &[]);
    let edit = |from: &str, to: &str| {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&file, text.replace(from, to)).unwrap();
    };
    edit("Daily forecast.", "Weather.");
    for (refuse, code) in [("wording", 11), ("additive", 0), ("breaking", 0)] {
        let told = run("before", &["check", &file, "--refuse", refuse]);
        assert_eq!((told.code, &*told.stderr), (code, ""), "{refuse}");
        assert!(told.stdout.starts_with("wording (1)\n"), "{}", told.stdout);
    }
    edit("\"maximum\": 10", "\"maximum\": 9");
    for (refuse, code) in [("wording", 10), ("additive", 10), ("breaking", 0)] {
        let told = run("before", &["check", &file, "--refuse", refuse]);
        assert_eq!((told.code, &*told.stderr), (code, ""), "{refuse}");
    }
}

#[test]
fn resources_are_recorded_if_that_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.json");
    let file = file.to_str().unwrap();
    let recorded = run("before", &["lock", "--resources", "-o", file]);
    let what = format!("2 tools, 0 prompts, 0 templates, 1 resource recorded in `{file}`\n");
    recorded.check(0, "", &what);
    let told = run("after", &["check", file]);
    let expected = "  resource `place://here`: removed\n";
    assert!(told.stdout.contains(expected), "{}", told.stdout);
}

#[test]
fn files_that_are_no_lock_files_are_refused_before_anything_is_started() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.json");
    let name = file.to_str().unwrap();
    let check = |stderr: &str| {
        let mut command = command(Path::new("/nowhere"), &["check", name]);
        let told = ended(command.stdin(Stdio::null()).output().unwrap());
        assert_eq!((told.code, &*told.stdout), (8, ""));
        assert!(told.stderr.contains(stderr), "{}", told.stderr);
    };
    check("No such file");
    fs::write(&file, "{}").unwrap();
    check("not a lock file: it has no member `treenailLock`");
    fs::write(&file, "{\"treenailLock\": 1, \"tools\": 3}").unwrap();
    check("expected a sequence, at line 1, column 30, in `tools`");

    let nowhere = directory.path().join("nowhere").join("a.json");
    let told = run("before", &["lock", "-o", nowhere.to_str().unwrap()]);
    assert_eq!(told.code, 8, "{}", told.stderr);
    fs::write(&file, "{\"treenailLock\": 1}").unwrap();
    let told = run("before", &["check", name, "--tool", "x"]);
    assert_eq!(told.code, 2);
    assert!(
        told.stderr.contains("the contract has no tool `x`"),
        "{}",
        told.stderr
    );
}
