//! `treenail list` and `treenail info`.

use std::process::Stdio;

use serde_json::Value;

use crate::run::{command, ended, repository_example, run, test_server};

#[test]
fn tools_are_shown_with_their_arguments() {
    let mut server = command(&repository_example("files"), &["list", "tools"]);
    server.arg(".");
    let shown = ended(server.stdin(Stdio::null()).output().unwrap());
    assert_eq!((shown.code, &*shown.stderr), (0, ""));
    let expected = "\
files.list  List files  [read-only]
  List the files below a directory, sorted by path.
    path   string   = \"\"   Directory to list, e.g. `src`
    glob   string          Only files like this: `*.rs` in any directory, or `src/**/*.toml`
    limit  integer  = 200  Most files to return (1 to 2000)

files.read  Read a file  [read-only]
";
    assert!(shown.stdout.starts_with(expected), "{}", shown.stdout);
    assert!(
        shown
            .stdout
            .contains("\n    path        string   required  Path"),
        "{}",
        shown.stdout
    );
}

#[test]
fn everything_is_shown_under_headings() {
    let shown = run(&["list"]);
    assert_eq!((shown.code, &*shown.stderr), (0, ""));
    for expected in [
        "Tools (13)\n\nadd  [read-only]\n  Adds two integers.\n    a  integer  required  The first one\n    \
         b  integer  = 1       (at most 100)\n",
        "    id       integer   required  (at least 0)\n    tags     string[]  = []\n    express  boolean   required\n",
        "\n\nPrompts (1)\n\ngreeting\n  Greets.\n    name  required  Who it is for\n",
        "note://today  text/plain                today: A note of the day.",
        "Templates for resources (1)\n\nnote://{city}/{day}",
    ] {
        assert!(
            shown.stdout.contains(expected),
            "{expected:?} in\n{}",
            shown.stdout
        );
    }
}

#[test]
fn json_is_that_of_the_protocol() {
    let shown = run(&["list", "tools", "--json"]);
    let value: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(value["tools"][0]["name"], "add");
    assert_eq!(value["tools"][0]["inputSchema"]["required"][0], "a");

    let shown = run(&["list", "--json"]);
    let value: Value = serde_json::from_str(&shown.stdout).unwrap();
    let keys: Vec<_> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["tools", "prompts", "resources", "resourceTemplates"]);
}

#[test]
fn what_a_terminal_would_obey_is_never_shown() {
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
        let shown = run(args);
        for text in [&shown.stdout, &shown.stderr] {
            let obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!text.contains(obeyed), "{args:?}: {text:?}");
        }
    }
    run(&["call", "hostile"]).check(
        0,
        "one␛]0;title␇\ntwo\\u{9b}31m\\u{202e}\n[link to a resource: a␛[1m <file:///␈b>]\n",
        "",
    );
}

#[test]
fn a_server_is_introduced() {
    let shown = run(&["info", "--protocol-version", "2025-06-18"]);
    let expected = "server        test ␛[1mserver 1\nprotocol      2025-06-18\ncapabilities  ";
    assert!(shown.stdout.starts_with(expected), "{}", shown.stdout);
    assert!(shown.stdout.contains("\n\nBe careful."), "{}", shown.stdout);

    let shown = run(&["info", "--json"]);
    let value: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(value["protocolVersion"], "2026-07-28");
    assert_eq!(value["serverInfo"]["name"], "test \x1b[1mserver");
}

#[test]
fn a_list_that_the_server_does_not_know_is_empty_with_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("plain.lock.json");
    let file = file.to_str().unwrap();
    let run = |args: &[&str]| {
        let mut server = command(&test_server(), args);
        ended(server.arg("plain").stdin(Stdio::null()).output().unwrap())
    };
    let note = "the server does not know `resources/templates/list`, which its capabilities promise; the list is taken to be \
                empty\n";
    run(&["list"]).check(0, "Tools (1)\n\necho\n", note);
    run(&["list", "tools"]).check(0, "echo\n", "");
    let recorded = format!("1 tool, 0 prompts, 0 templates recorded in `{file}`\n");
    run(&["lock", "-o", file]).check(0, "", &format!("{note}{recorded}"));
    run(&["check", file]).check(0, "no changes\n", note);
}

#[test]
fn a_server_that_starts_slowly_is_connected_to() {
    let mut server = command(
        &test_server(),
        &["list", "tools", "--probe-timeout", "100ms"],
    );
    let shown = ended(server.arg("slow").stdin(Stdio::null()).output().unwrap());
    shown.check(0, "echo\n", "");
}
