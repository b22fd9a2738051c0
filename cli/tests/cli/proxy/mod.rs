//! `treenail proxy`: several servers as one.

#[cfg(unix)]
mod ends;
mod http;
#[cfg(unix)]
mod nesting;
#[cfg(unix)]
mod output;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::http::{HttpServer, rejecting_server};
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
        "my server": {"command": server(), "args": [], "envFile": ".env"},
        "gone": {"command": missing},
    }});
    fs::write(&file, config.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let outcome = through_proxy(
        &["call", "my_server.add", "a=1", "b=2", "--verbose"],
        &["--config", file],
    );
    let note = "server `my server`: `envFile` is not read";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    assert_eq!(
        (outcome.code, outcome.stdout.trim()),
        (0, "3"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_server_at_a_url_has_no_prefix_and_the_revision_of_the_option() {
    let server = HttpServer::start_mode("http");
    for revision in ["2025-11-25", "2026-07-28"] {
        let options = ["--url", &server.url, "--protocol-version", revision];
        let logged = [&options[..], &["--log", "-"]].concat();
        let outcome = through_proxy(&["call", "add", "a=1", "b=2", "--verbose"], &logged);
        assert_eq!(
            (outcome.code, outcome.stdout.trim()),
            (0, "3"),
            "{}",
            outcome.stderr
        );
        let is_legacy = outcome.stderr.contains(" initialize ");
        assert_eq!(is_legacy, revision == "2025-11-25", "{}", outcome.stderr);
    }
}

#[test]
fn messages_of_all_servers_are_shown_on_standard_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
    let (one, two) = (format!("one='{}'", server()), format!("two='{}'", server()));
    command.args(["proxy", "--log", "-", "-s", &one, "-s", &two]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut proxy = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = proxy.stdin.take().unwrap();
    let call = |id: u8, name: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": name, "arguments": {"a": 20, "b": 22}, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    for message in [call(1, "one.add"), call(2, "two.add")] {
        writeln!(input, "{message}").unwrap();
    }
    let mut output = BufReader::new(proxy.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        let response = output.next().unwrap().unwrap();
        assert!(response.contains("42"), "{response}");
    }
    drop(input);
    let log = outcome_of(proxy.wait_with_output().unwrap()).stderr;
    for name in ["one", "two"] {
        let shown = |line: &str| line.contains(name) && line.contains("tools/call");
        assert!(log.lines().filter(|line| shown(line)).count() >= 2, "{log}");
    }
}

#[test]
fn headers_of_a_configuration_file_are_sent_and_not_shown() {
    let (url, heads) = rejecting_server("403 Forbidden");
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("mcp.json"), folder.path().join("log"));
    let remote = json!({"type": "http", "url": url, "headers": {"Authorization": "Bearer s3cret"}});
    // The form of VS Code.
    let config = json!({"servers": {"far": remote, "near": {"command": server()}}});
    fs::write(&file, config.to_string()).unwrap();
    let (file, log_file) = (file.to_str().unwrap(), log.to_str().unwrap());
    let options = ["--config", file, "--log", log_file];
    let outcome = through_proxy(&["call", "near.add", "a=1", "b=2"], &options);
    assert_eq!(
        (outcome.code, outcome.stdout.trim()),
        (0, "3"),
        "{outcome:?}"
    );
    let head = heads.recv().unwrap().to_lowercase();
    assert!(head.contains("authorization: bearer s3cret"), "{head}");
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("near") && log.contains("far"), "{log}");
    assert!(!(outcome.stderr + &log).contains("s3cret"), "{log}");
}

#[test]
fn the_query_of_a_url_is_not_shown() {
    // Nothing listens at this port after the listener is dropped.
    let dead = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = dead.local_addr().unwrap();
    drop(dead);
    let url = format!("http://{address}/mcp?key=s3cret");
    let options = ["--url", &url, "--wait", "5s"];
    for args in [
        &["list", "--verbose"][..],
        &["call", "add", "a=1", "b=2", "--verbose"],
    ] {
        let outcome = through_proxy(args, &options);
        let shown = outcome.stdout + &outcome.stderr;
        assert!(shown.contains(&format!("http://{address}/mcp`")), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}

#[test]
fn a_wrong_configuration_file_is_reported_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let missing = file.to_str().unwrap();
    let outcome = run_alone(&["proxy", "--config", missing]);
    assert_ne!(outcome.code, 0);
    assert!(outcome.stderr.contains("mcp.json"), "{}", outcome.stderr);
    fs::write(&file, r#"{"mcpServers": {"a": {"args": []}}}"#).unwrap();
    let outcome = run_alone(&["proxy", "--config", missing]);
    assert_ne!(outcome.code, 0);
    let named = outcome.stderr.contains("mcp.json") && outcome.stderr.contains("`a`");
    assert!(named, "{}", outcome.stderr);
}

#[test]
fn the_warnings_of_the_proxy_are_shown() {
    let one = format!("one='{}'", server());
    let options = ["-s", &one, "--rename", "one.nope=one.x"];
    let outcome = through_proxy(&["list", "tools", "--verbose"], &options);
    let warning = "server `one`: nothing to rename: the server has no `nope`";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    let quiet = [&options[..], &["--quiet"]].concat();
    let outcome = through_proxy(&["list", "tools", "--verbose"], &quiet);
    assert!(!outcome.stderr.contains(warning), "{}", outcome.stderr);
}

#[test]
fn wrong_options_are_reported() {
    let table: [(&[&str], &str); 7] = [
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
        (
            &["proxy", "-s", "a=x", "--rename", "b.y=z"],
            "for --rename: no server has a feature of this name",
        ),
        (
            &["proxy", "-s", "a=x", "--rename", "a.add=sum"],
            "for --rename: the new name starts with `a.` too",
        ),
        (&["proxy", "-s", "a=x", "--filter", "!"], "for --filter"),
    ];
    for (args, expected) in table {
        let outcome = run_alone(args);
        let stderr = &outcome.stderr;
        assert_eq!(outcome.code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
}
