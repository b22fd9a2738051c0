//! `treenail proxy`: several servers as one.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::process::{Outcome, outcome_of, run_alone, test_server};

/// Runs a command with `treenail proxy` and these options as its server.
fn through_proxy(args: &[&str], proxy: &[&str]) -> Outcome {
    let program = env!("CARGO_BIN_EXE_treenail");
    let mut command = Command::new(program);
    command
        .args(args)
        .arg("--")
        .arg(program)
        .arg("proxy")
        .args(proxy);
    outcome_of(command.stdin(Stdio::null()).output().unwrap())
}

fn server() -> String {
    test_server().to_str().unwrap().to_owned()
}

#[test]
fn two_servers_have_a_namespace_each() {
    let server = server();
    let (one, two) = (format!("one='{server}'"), format!("two='{server}'"));
    let outcome = through_proxy(&["list", "tools", "--json"], &["-s", &one, "-s", &two]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let listed: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let text = listed.to_string();
    assert!(
        text.contains("\"one.add\"") && text.contains("\"two.add\""),
        "{text}"
    );
    let called = through_proxy(
        &["call", "two.add", "a=1", "b=2"],
        &["-s", &one, "-s", &two],
    );
    assert_eq!(
        (called.code, called.stdout.trim()),
        (0, "3"),
        "{}",
        called.stderr
    );
}

#[test]
fn a_single_server_has_no_prefix_and_its_messages_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("messages.jsonl");
    let server = server();
    let options = [
        "--log",
        log.to_str().unwrap(),
        "--rename",
        "add=sum",
        "--filter",
        "add",
    ];
    let proxy = [&options[..], &["--", &server]].concat();
    let outcome = through_proxy(&["call", "sum", "a=1", "b=2"], &proxy);
    assert_eq!(
        (outcome.code, outcome.stdout.trim()),
        (0, "3"),
        "{}",
        outcome.stderr
    );
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("tools/call"), "{log}");
    assert!(
        log.lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok()),
        "{log}"
    );
}

#[test]
fn the_servers_of_a_configuration_file_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let missing = folder.path().join("missing");
    let config = json!({"mcpServers": {
        "my server": {"command": server(), "args": []},
        "gone": {"command": missing},
    }});
    fs::write(&file, config.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let outcome = through_proxy(
        &["call", "my_server.add", "a=1", "b=2"],
        &["--config", file],
    );
    assert_eq!(
        (outcome.code, outcome.stdout.trim()),
        (0, "3"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn wrong_options_are_reported() {
    let table: [(&[&str], &str); 5] = [
        (&["proxy"], "there is no server"),
        (
            &["proxy", "-s", "a b=x"],
            "invalid value `a b=x` for --server",
        ),
        (
            &["proxy", "-s", "a=x", "-s", "a=y"],
            "duplicate server name `a`",
        ),
        (
            &["proxy", "-s", "a=x", "--rename", "x"],
            "for --rename: expected `name=new`",
        ),
        (&["proxy", "-s", "a=x", "--filter", "!"], "for --filter"),
    ];
    for (args, expected) in table {
        let outcome = run_alone(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(expected),
            "{args:?}: {}",
            outcome.stderr
        );
    }
}
