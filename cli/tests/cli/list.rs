//! `treenail list` and `treenail info`.

use std::process::Stdio;

use serde_json::Value;

use crate::process::{command, outcome_of, repository_example, run, test_server};

#[test]
fn tools_are_listed_with_their_arguments() {
    let mut server = command(&repository_example("files"), &["list", "tools"]);
    server.arg(".");
    let output = outcome_of(server.stdin(Stdio::null()).output().unwrap());
    assert_eq!((output.code, &*output.stderr), (0, ""));
    let expected = "\
files.list  List files  [read-only]
  List the files below a directory, sorted by path.
    path   string   = \"\"   Directory to list, e.g. `src`
    glob   string          Glob to filter the files: `*.rs` in any directory, or `src/**/*.toml`
    limit  integer  = 200  Maximum number of files to return (1 to 2000)

files.read  Read a file  [read-only]
";
    assert!(output.stdout.starts_with(expected), "{}", output.stdout);
    assert!(
        output
            .stdout
            .contains("\n    path        string   required  Path"),
        "{}",
        output.stdout
    );
}

#[test]
fn lists_have_headings() {
    let output = run(&["list"]);
    assert_eq!((output.code, &*output.stderr), (0, ""));
    for expected in [
        "Tools (13)\n\nadd  [read-only]\n  Adds two integers.\n    a  integer  required  The first one\n    \
         b  integer  = 1       (at most 100)\n",
        "    id       integer   required  (at least 0)\n    tags     string[]  = []\n    express  boolean   required\n",
        "\n\nPrompts (1)\n\ngreeting\n  Greets.\n    name  required  Name of the person\n",
        "note://today  text/plain                today: A note of the day.",
        "Resource templates (1)\n\nnote://{city}/{day}",
    ] {
        assert!(
            output.stdout.contains(expected),
            "{expected:?} in\n{}",
            output.stdout
        );
    }
}

#[test]
fn json_has_the_format_of_the_protocol() {
    let output = run(&["list", "tools", "--json"]);
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(value["tools"][0]["name"], "add");
    assert_eq!(value["tools"][0]["inputSchema"]["required"][0], "a");

    let output = run(&["list", "--json"]);
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    let keys: Vec<_> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["tools", "prompts", "resources", "resourceTemplates"]);
}

#[test]
fn control_characters_are_never_printed() {
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["info"],
        &["info", "--json"],
        &["call", "hostile"],
        &["call", "hostile", "--json"],
        &["call", "fail"],
        &["call", "book"],
        &["call", "wait", "--timeout", "2s", "-v"],
    ] {
        let output = run(args);
        for text in [&output.stdout, &output.stderr] {
            let is_control = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!text.contains(is_control), "{args:?}: {text:?}");
        }
    }
    run(&["call", "hostile"]).check(
        0,
        "one␛]0;title␇\ntwo\\u{9b}31m\\u{202e}\n[resource link: a␛[1m <file:///␈b>]\n",
        "",
    );
}

#[test]
fn info_shows_name_revision_and_capabilities() {
    let output = run(&["info", "--protocol-version", "2025-06-18"]);
    let expected = "server        test ␛[1mserver 1\nprotocol      2025-06-18\ncapabilities  ";
    assert!(output.stdout.starts_with(expected), "{}", output.stdout);
    assert!(
        output.stdout.contains("\n\nBe careful."),
        "{}",
        output.stdout
    );

    let output = run(&["info", "--json"]);
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(value["protocolVersion"], "2026-07-28");
    assert_eq!(value["serverInfo"]["name"], "test \x1b[1mserver");
}

#[test]
fn unimplemented_list_is_empty_with_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("plain.lock.json");
    let file = file.to_str().unwrap();
    let run = |args: &[&str]| {
        let mut server = command(&test_server(), args);
        outcome_of(server.arg("plain").stdin(Stdio::null()).output().unwrap())
    };
    let note = "the server declares the capability for `resources/templates/list` but does not implement it; treating the \
                list as empty\n";
    run(&["list"]).check(0, "Tools (1)\n\necho\n", note);
    run(&["list", "tools"]).check(0, "echo\n", "");
    let recorded = format!("recorded 1 tool, 0 prompts, 0 templates in `{file}`\n");
    run(&["lock", "-o", file]).check(0, "", &format!("{note}{recorded}"));
    run(&["check", file]).check(0, "no changes\n", note);
}

#[test]
fn slow_server_is_reached_after_a_short_probe() {
    let mut server = command(
        &test_server(),
        &["list", "tools", "--probe-timeout", "100ms"],
    );
    let output = outcome_of(server.arg("slow").stdin(Stdio::null()).output().unwrap());
    output.check(0, "echo\n", "");
}
