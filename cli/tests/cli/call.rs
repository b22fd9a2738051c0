//! `treenail call`: arguments, results and errors.

use std::fs;

use serde_json::{Value, json};

use crate::process::{run, run_with_input};

#[test]
fn arguments_are_converted_by_the_schema() {
    run(&["call", "add", "a=40", "b=2"]).check(0, "42\n", "");
    run(&["call", "add", "a:=40"]).check(0, "41\n", "");
    run(&["call", "echo", "text=7"]).check(0, "7\n", "");
    let order =
        "{\n  \"id\": 7,\n  \"tags\": [\n    \"a\",\n    \"b\"\n  ],\n  \"express\": true\n}\n";
    run(&["call", "order", "id=7", "tags=a", "express=true", "tags=b"]).check(0, order, "");
    run(&[
        "call",
        "order",
        "id=7",
        "tags:=[\"a\",\"b\"]",
        "express=true",
    ])
    .check(0, order, "");
}

#[test]
fn invalid_arguments_are_reported_before_the_call() {
    run(&["call", "order", "tag=a", "express=maybe", "id=x"]).check(
        2,
        "",
        "error: invalid arguments for tool `order`:\n\
         - unknown argument `tag`; did you mean `tags`?\n\
         - `express`: expected a boolean, got `maybe`\n\
         - `id`: expected an integer, got `x`\n \
         note: accepted arguments:\n    \
         id       integer   required  (at least 0)\n    \
         tags     string[]  = []\n    \
         express  boolean   required\n",
    );
    let missing = run(&["call", "add"]);
    assert_eq!(missing.code, 2);
    assert!(
        missing
            .stderr
            .contains("\n- missing required argument `a`\n"),
        "{}",
        missing.stderr
    );
}

#[test]
fn unknown_name_suggests_the_closest() {
    let error = "error: the server has no tool `ordre`; did you mean `order`?\n";
    run(&["call", "ordre"]).check(2, "", error);
    let error = "error: the server has no prompt `zzz`\n note: run `treenail list prompts` to see all prompts\n";
    run(&["prompt", "zzz"]).check(2, "", error);
}

#[test]
fn arguments_can_be_one_json_object() {
    run(&["call", "add", "--args", r#"{"a": 1, "b": 2}"#]).check(0, "3\n", "");
    run(&["call", "add", "b=5", "--args", r#"{"a": 1, "b": 2}"#]).check(0, "6\n", "");
    run_with_input(&["call", "add", "-"], r#"{"a": 1, "b": 3}"#).check(0, "4\n", "");
    run_with_input(&["call", "add", "--args", "-"], r#"{"a": 1, "b": 4}"#).check(0, "5\n", "");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arguments.json");
    fs::write(&path, r#"{"a": 1, "b": 5}"#).unwrap();
    let path = format!("@{}", path.display());
    run(&["call", "add", "--args", &path]).check(0, "6\n", "");

    // JSON is sent unchanged, even if it is invalid, and the server rejects it.
    let refused = run(&["call", "add", "--args", r#"{"a": "x"}"#]);
    assert_eq!((refused.code, &*refused.stdout), (1, ""));
    assert!(
        refused.stderr.contains("expected an integer, got"),
        "{}",
        refused.stderr
    );
    let error = "error: --args: the arguments are not a JSON object\n";
    run(&["call", "add", "--args", "[]"]).check(2, "", error);
}

#[test]
fn failed_tool_exits_with_1() {
    run(&["call", "fail"]).check(1, "", "error: the tool failed: the sea is ␛[31mrough\n");
    let output = run(&["call", "fail", "--json"]);
    assert_eq!((output.code, &*output.stderr), (1, ""));
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(result["isError"], true);
}

#[test]
fn json_has_the_format_of_the_protocol() {
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let args = [
            "call",
            "add",
            "a=1",
            "--json",
            "--protocol-version",
            revision,
        ];
        let output = run(&args);
        let result: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(
            result["content"],
            json!([{"type": "text", "text": "2"}]),
            "{revision}"
        );
    }
}

#[test]
fn json_is_saved_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.json");
    let name = path.to_str().unwrap();
    for (args, code) in [(&["call", "picture"][..], 0), (&["call", "fail"], 1)] {
        let printed = run(&[args, &["--json"]].concat()).stdout;
        let note = format!("saved {} bytes to `{name}`\n", printed.len());
        run(&[args, &["--json", "-o", name]].concat()).check(code, "", &note);
        assert_eq!(fs::read_to_string(&path).unwrap(), printed);
    }
}

#[test]
fn binary_content_is_summarized_and_saved() {
    let line = "[image: image/png, 3 bytes; use -o FILE to save]\n";
    run(&["call", "picture"]).check(0, &format!("here it is\n{line}"), "");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plot.png");
    let name = path.to_str().unwrap();
    let note = format!("saved 3 bytes to `{name}`\n");
    run(&["call", "picture", "-o", name]).check(0, "here it is\n", &note);
    assert_eq!(fs::read(&path).unwrap(), [1, 2, 3]);
    run(&["call", "picture", "count=2", "-q", "-o", name]).check(0, "here it is\n", "");
    assert_eq!(
        fs::read(folder.path().join("plot-2.png")).unwrap(),
        [1, 2, 3]
    );

    run(&["call", "echo", "text=\x1b[1m", "-q", "-o", name]).check(0, "", "");
    assert_eq!(
        fs::read(&path).unwrap(),
        b"\x1b[1m",
        "text is written to files unchanged"
    );
}

#[test]
fn long_errors_are_truncated() {
    let outcome = run(&["call", "fail_at_length", "bytes=3000000"]);
    assert_eq!((outcome.code, &*outcome.stdout), (1, ""));
    assert!(outcome.stderr.len() < 10_000, "{}", outcome.stderr.len());
    let omitted = "xxx… (2992017 more bytes omitted)\n";
    let end = outcome.stderr.len().saturating_sub(100);
    assert!(
        outcome.stderr.ends_with(omitted),
        "{}",
        &outcome.stderr[end..]
    );
}

#[test]
fn option_that_is_an_argument_gets_a_tip() {
    for (args, example) in [
        (&["call", "echo", "--text", "hi"][..], "`text=hi`"),
        (&["call", "echo", "--text=a=b"], "`text=a=b`"),
        (&["prompt", "greeting", "--who"], "`who=…`"),
    ] {
        let outcome = run(args);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        let tip = format!("tip: pass arguments without dashes: {example}\n");
        assert!(outcome.stderr.contains(&tip), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("'-- "), "{}", outcome.stderr);
    }
    let other = run(&["list", "--text"]);
    assert!(!other.stderr.contains("dashes"), "{}", other.stderr);
}

#[test]
fn log_messages_are_printed_with_verbose() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let args = [
            "call",
            "wait",
            "--timeout",
            "2",
            "--protocol-version",
            revision,
        ];
        let quiet = run(&args);
        assert!(
            !quiet.stderr.contains("waiting started"),
            "{revision}: {}",
            quiet.stderr
        );
        let verbose = run(&[&args[..], &["-v"]].concat());
        assert!(
            verbose.stderr.contains("warning: waiting started\n"),
            "{revision}: {}",
            verbose.stderr
        );
    }
}

#[test]
fn roots_are_sent_to_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let name = folder.to_str().unwrap();
    let expected = format!("file://{name}\n");
    run(&["call", "whereabouts", "--roots", name]).check(0, &expected, "");
    let none = run(&["call", "whereabouts", "--roots", "/no/such/directory"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
}
