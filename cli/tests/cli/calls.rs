//! `treenail call`: arguments, results, and what is wrong with either.

use std::fs;

use serde_json::{Value, json};

use crate::run::{run, run_with_input};

#[test]
fn arguments_have_the_types_of_the_tool() {
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
fn wrong_arguments_are_told_before_anything_is_sent() {
    run(&["call", "order", "tag=a", "express=maybe", "id=x"]).check(
        2,
        "",
        "error: wrong arguments for the tool `order`:\n\
         - there is no argument `tag`; did you mean `tags`?\n\
         - `express` is a boolean, not `maybe`\n\
         - `id` is an integer, not `x`\n \
         note: it takes\n    \
         id       integer   required  (at least 0)\n    \
         tags     string[]  = []\n    \
         express  boolean   required\n",
    );
    let missing = run(&["call", "add"]);
    assert_eq!(missing.code, 2);
    assert!(
        missing.stderr.contains("\n- `a` is missing\n"),
        "{}",
        missing.stderr
    );
}

#[test]
fn a_wrong_name_brings_the_nearest_one() {
    let error = "error: the server has no tool `ordre`; did you mean `order`?\n";
    run(&["call", "ordre"]).check(2, "", error);
    let error =
        "error: the server has no prompt `zzz`\n note: `treenail list prompts` shows what it has\n";
    run(&["prompt", "zzz"]).check(2, "", error);
}

#[test]
fn all_arguments_can_be_one_object() {
    run(&["call", "add", "--args", r#"{"a": 1, "b": 2}"#]).check(0, "3\n", "");
    run(&["call", "add", "b=5", "--args", r#"{"a": 1, "b": 2}"#]).check(0, "6\n", "");
    run_with_input(&["call", "add", "-"], r#"{"a": 1, "b": 3}"#).check(0, "4\n", "");
    run_with_input(&["call", "add", "--args", "-"], r#"{"a": 1, "b": 4}"#).check(0, "5\n", "");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arguments.json");
    fs::write(&path, r#"{"a": 1, "b": 5}"#).unwrap();
    let path = format!("@{}", path.display());
    run(&["call", "add", "--args", &path]).check(0, "6\n", "");

    // What is given as JSON is sent as it is, also when it is wrong: the server refuses it.
    let refused = run(&["call", "add", "--args", r#"{"a": "x"}"#]);
    assert_eq!((refused.code, &*refused.stdout), (1, ""));
    assert!(
        refused.stderr.contains("expected an integer, got"),
        "{}",
        refused.stderr
    );
    let error = "error: --args: the arguments are no JSON object\n";
    run(&["call", "add", "--args", "[]"]).check(2, "", error);
}

#[test]
fn a_tool_that_fails_ends_the_program_with_1() {
    run(&["call", "fail"]).check(1, "", "error: the tool failed: the sea is ␛[31mrough\n");
    let shown = run(&["call", "fail", "--json"]);
    assert_eq!((shown.code, &*shown.stderr), (1, ""));
    let result: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(result["isError"], true);
}

#[test]
fn json_is_the_result_of_the_protocol() {
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let args = [
            "call",
            "add",
            "a=1",
            "--json",
            "--protocol-version",
            revision,
        ];
        let shown = run(&args);
        let result: Value = serde_json::from_str(&shown.stdout).unwrap();
        assert_eq!(
            result["content"],
            json!([{"type": "text", "text": "2"}]),
            "{revision}"
        );
    }
}

#[test]
fn bytes_are_told_of_and_saved() {
    let line = "[image: image/png, 3 bytes; -o FILE saves it]\n";
    run(&["call", "picture"]).check(0, &format!("here it is\n{line}"), "");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plot.png");
    let name = path.to_str().unwrap();
    let note = format!("3 bytes saved in `{name}`\n");
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
        "a file gets it as it is"
    );
}

#[test]
fn long_errors_are_cut_off() {
    let ended = run(&["call", "fail_at_length", "bytes=3000000"]);
    assert_eq!((ended.code, &*ended.stdout), (1, ""));
    assert!(ended.stderr.len() < 10_000, "{}", ended.stderr.len());
    let left_out = "xxx… (2992017 bytes more are left out)\n";
    let end = ended.stderr.len().saturating_sub(100);
    assert!(ended.stderr.ends_with(left_out), "{}", &ended.stderr[end..]);
}

#[test]
fn an_option_that_is_an_argument_gets_the_right_advice() {
    for (args, advice) in [
        (&["call", "echo", "--text", "hi"][..], "`text=hi`"),
        (&["call", "echo", "--text=a=b"], "`text=a=b`"),
        (&["prompt", "greeting", "--who"], "`who=…`"),
    ] {
        let ended = run(args);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        let advice = format!("tip: arguments are given without dashes: {advice}\n");
        assert!(ended.stderr.contains(&advice), "{}", ended.stderr);
        assert!(!ended.stderr.contains("'-- "), "{}", ended.stderr);
    }
    let other = run(&["list", "--text"]);
    assert!(!other.stderr.contains("dashes"), "{}", other.stderr);
}

#[test]
fn the_log_is_shown_when_asked_for() {
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
            !quiet.stderr.contains("it begins"),
            "{revision}: {}",
            quiet.stderr
        );
        let verbose = run(&[&args[..], &["-v"]].concat());
        assert!(
            verbose.stderr.contains("warning: it begins\n"),
            "{revision}: {}",
            verbose.stderr
        );
    }
}

#[test]
fn directories_are_told_to_servers_that_ask() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let name = folder.to_str().unwrap();
    let expected = format!("file://{name}\n");
    run(&["call", "whereabouts", "--roots", name]).check(0, &expected, "");
    let none = run(&["call", "whereabouts", "--roots", "/no/such/directory"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
}
