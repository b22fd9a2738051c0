//! Traces of messages.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::http::HttpServer;
use crate::process::{Outcome, outcome_of, run, run_alone, test_server};

#[test]
fn every_message_is_shown_with_direction_and_time() {
    let cases = [
        (
            "2025-11-25",
            &[
                "→ initialize",
                "← initialize result",
                "→ notifications/initialized",
            ][..],
        ),
        (
            "2026-07-28",
            &["→ server/discover", "← server/discover result"],
        ),
    ];
    for (revision, handshake) in cases {
        let args = ["call", "steps", "--trace", "--protocol-version", revision];
        let outcome = run(&args);
        assert_eq!((outcome.code, &*outcome.stdout), (0, "done\n"));
        let lines: Vec<_> = outcome.stderr.lines().map(without_numbers).collect();
        let call = [
            "→ tools/call",
            "← notifications/progress",
            "← tools/call result",
            "← connection closed",
        ];
        let mut rest = lines.iter();
        for expected in handshake.iter().chain(&call) {
            assert!(
                rest.any(|line| line.starts_with(expected)),
                "{revision}: {expected}: {}",
                outcome.stderr
            );
        }
        let progress = lines.iter().filter(|line| line.contains("/progress "));
        assert_eq!(progress.count(), 6, "{}", outcome.stderr);
    }
}

/// Removes time and id from a line, after checking that there is a time.
fn without_numbers(line: &str) -> String {
    let mut words = line.split(' ').collect::<Vec<_>>();
    let time = words.remove(1).strip_suffix('s').unwrap();
    assert!(time.parse::<f64>().is_ok(), "{line}");
    words.retain(|word| !word.starts_with('#'));
    words.join(" ")
}

#[test]
fn long_messages_are_shortened_on_request_only() {
    let (short, full) = (
        ["read", "data://large", "--trace"],
        ["read", "data://large", "--trace=full"],
    );
    let short = run(&short);
    assert!(short.stderr.contains(" more bytes) ("), "{}", short.stderr);
    assert!(short.stderr.len() < 10_000, "{}", short.stderr.len());
    let full = run(&full);
    assert!(!full.stderr.contains(" more bytes"));
    assert!(full.stderr.len() > 4 << 20);
}

#[test]
fn texts_of_a_server_cannot_control_the_terminal() {
    let outcome = run(&["call", "hostile", "--trace=full"]);
    assert!(outcome.stderr.contains(r"\u202e"), "{}", outcome.stderr);
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(
        !outcome
            .stderr
            .contains(|c| is_control(c) || c == '\u{202e}')
    );
}

#[test]
fn a_file_has_one_json_object_for_each_message() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace.jsonl");
    let option = format!("--trace={}", file.display());
    for _ in 0..2 {
        let outcome = run(&[
            "call",
            "book",
            "--answer=name=Ada",
            "--answer=room=Single",
            &option,
        ]);
        let expected = "Ada, 2 nights, single, note: none\n";
        outcome.check(0, expected, "");
    }
    let text = fs::read_to_string(&file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let calls = lines
        .iter()
        .filter(|line| line["message"]["method"] == "tools/call");
    // Two rounds in each of two runs.
    assert_eq!(calls.count(), 4, "{text}");
    for line in &lines {
        assert_eq!(line["message"]["jsonrpc"], "2.0", "{line}");
        assert!(line["time"].as_str().unwrap().ends_with('Z'), "{line}");
        assert!(line["direction"].is_string(), "{line}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_file_that_cannot_be_written_exits_with_8() {
    let outcome = run(&["list", "--trace=/no/such/directory/trace"]);
    assert_eq!((outcome.code, &*outcome.stdout), (8, ""));
    let error = "error: `/no/such/directory/trace`: ";
    assert!(outcome.stderr.starts_with(error), "{}", outcome.stderr);
}

/// Asserts that a tool has returned the secret, and that the trace does not have it.
fn assert_redacted(outcome: &Outcome, secret: &str) {
    assert_eq!(outcome.stdout, format!("{secret}\n"), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("\"text\":\"[redacted]\""),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains("s3cret"), "{}", outcome.stderr);
}

#[test]
fn secrets_of_the_command_line_are_redacted() {
    let server = format!("{} environment", test_server().display());
    let secret = "s3cret-\"value\"";
    let variable = format!("API_TOKEN={secret}");
    let args = [
        "call",
        "variable",
        "name=API_TOKEN",
        "--env",
        &variable,
        "--trace=full",
        "-c",
        &server,
    ];
    let outcome = run_alone(&args);
    assert_redacted(&outcome, secret);
}

#[test]
fn secrets_of_an_inherited_environment_are_redacted() {
    let server = format!("{} environment", test_server().display());
    let (secret, option) = ("s3cret-\"value\"", "--trace=full");
    let mut call = Command::new(env!("CARGO_BIN_EXE_treenail"));
    call.args(["call", "variable", "name=API_TOKEN", "--inherit-env"]);
    call.args([option, "-c", &server]).env("API_TOKEN", secret);
    let outcome = outcome_of(call.stdin(Stdio::null()).output().unwrap());
    assert_redacted(&outcome, secret);
}

#[cfg(unix)]
#[test]
fn secrets_in_the_environment_of_a_server_under_development_are_redacted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    let program = env!("CARGO_BIN_EXE_treenail");
    let mut call = Command::new(program);
    call.args(["call", "variable", "name=API_TOKEN", "--inherit-env", "--"]);
    call.args([program, "dev", "--watch"]).arg(folder.path());
    call.arg(format!("--trace={}", file.display()));
    call.arg("--").arg(test_server()).arg("environment");
    call.env("API_TOKEN", "s3cret-value").stdin(Stdio::null());
    let outcome = outcome_of(call.output().unwrap());
    assert_eq!(outcome.stdout, "s3cret-value\n", "{}", outcome.stderr);
    let trace = fs::read_to_string(file).unwrap();
    assert!(trace.contains("\"text\":\"[redacted]\""), "{trace}");
    assert!(!trace.contains("s3cret"), "{trace}");
}

#[test]
fn a_cancelled_request_is_shown() {
    let outcome = run(&["call", "wait", "--timeout", "1s", "--trace"]);
    assert_eq!(outcome.code, 5, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains(" tools/call cancelled\n"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn requests_of_a_server_are_shown_over_http() {
    let server = HttpServer::start_mode("http");
    let args = [
        "call",
        "erase",
        "--yes",
        "--trace",
        "--protocol-version=2025-11-25",
    ];
    let outcome = run_alone(&[&args[..], &["--url", &server.url]].concat());
    assert_eq!(
        (outcome.code, &*outcome.stdout),
        (0, "erased\n"),
        "{}",
        outcome.stderr
    );
    let lines = outcome
        .stderr
        .lines()
        .filter(|line| line.starts_with(['→', '←']));
    let lines: Vec<_> = lines.map(without_numbers).collect();
    for expected in ["← elicitation/create {", "→ elicitation/create result {"] {
        let found = lines.iter().any(|line| line.starts_with(expected));
        assert!(found, "{expected}: {}", outcome.stderr);
    }
}
