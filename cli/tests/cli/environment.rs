//! Environment of server processes.

#[cfg(unix)]
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

#[cfg(unix)]
use serde_json::{Value, json};

use crate::chat::without_server;
use crate::fake::{Endpoint, Reply};
use crate::process::{command, outcome_of, run_alone, test_server};

/// Returns the value of the variable `SECRET` in the environment of a server.
fn secret_in_server(args: &[&str]) -> String {
    let args = [&["call", "variable", "name=SECRET"], args].concat();
    let mut command = command(&test_server(), &args);
    command.arg("environment").env("SECRET", "s3cret");
    let outcome = outcome_of(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    outcome.stdout
}

#[test]
fn servers_inherit_no_secrets() {
    assert_eq!(secret_in_server(&[]), "none\n");
    assert_eq!(secret_in_server(&["--inherit-env"]), "s3cret\n");
    assert_eq!(secret_in_server(&["--env", "SECRET"]), "s3cret\n");
    assert_eq!(secret_in_server(&["--env", "SECRET=a=b"]), "a=b\n");
    assert_eq!(secret_in_server(&["--inherit-env", "--env", "SECRET="]), "");
}

#[cfg(unix)]
#[test]
fn a_tool_that_prints_does_not_break_the_session() {
    let mut server = Command::new(test_server());
    server.arg("environment").stdin(Stdio::piped());
    server.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "noisy",
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    writeln!(server.stdin.take().unwrap(), "{call}").unwrap();
    let outcome = outcome_of(server.wait_with_output().unwrap());
    let response: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(response["result"]["content"][0]["text"], "done");
    let printed = [
        "printed {\"jsonrpc\":\n",
        "the start of a line",
        "a child\n",
    ];
    for text in printed {
        assert!(outcome.stderr.contains(text), "{}", outcome.stderr);
    }
}

#[test]
fn the_last_events_of_a_server_are_published_before_it_exits() {
    let mut server = Command::new(test_server());
    server.arg("changing").stdin(Stdio::null());
    let outcome = outcome_of(server.output().unwrap());
    assert!(outcome.stderr.contains("note://today"), "{outcome:?}");
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn invalid_variables_are_reported() {
    let server = test_server();
    let run = |given: &str| {
        let mut command = command(&server, &["list", "--env", given]);
        command.env_remove("NO_SUCH_VARIABLE");
        outcome_of(command.stdin(Stdio::null()).output().unwrap())
    };
    let unset = "error: environment variable `NO_SUCH_VARIABLE` for --env is not set\n";
    run("NO_SUCH_VARIABLE").check(2, "", unset);
    let nameless = "error: invalid value `=x` for --env: expected `NAME=VALUE` or `NAME`\n";
    run("=x").check(2, "", nameless);
    let over_http = run_alone(&["list", "--env", "A=b", "--url", "http://127.0.0.1:1/mcp"]);
    assert_eq!(over_http.code, 2, "{}", over_http.stderr);
}

/// Returns the value of a variable in the environment of a server during a chat with API keys.
fn variable_in_chat(variable: &str, args: &[&str]) -> String {
    let arguments = format!(r#"{{"name": "{variable}"}}"#);
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "variable", &arguments)]),
        Reply::text("Done."),
    ]);
    let mut command = without_server(&["--base-url", &endpoint.url, "--key-env", "MODEL_KEY"]);
    add_server(&mut command, &test_server());
    command.args(args).args(["--approve=test", "hi"]);
    command
        .env("OPENAI_API_KEY", "sk-usual")
        .env("MODEL_KEY", "sk-model")
        .env("PLAIN", "plain");
    let outcome = outcome_of(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    endpoint.asked();
    let asked = endpoint.asked();
    crate::chat::last_message(&asked)["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn add_server(command: &mut Command, server: &Path) {
    command.arg(format!("--server=test='{}' environment", server.display()));
}

#[test]
fn chat_does_not_pass_its_keys_to_servers() {
    for variable in ["OPENAI_API_KEY", "MODEL_KEY", "PLAIN"] {
        assert_eq!(variable_in_chat(variable, &[]), "none", "{variable}");
    }
    // `--inherit-env` passes everything but the keys.
    let inherit = ["--inherit-env", "test"];
    assert_eq!(variable_in_chat("PLAIN", &inherit), "plain");
    for variable in ["OPENAI_API_KEY", "MODEL_KEY"] {
        assert_eq!(variable_in_chat(variable, &inherit), "none", "{variable}");
    }
    // `--env` passes a key explicitly.
    let named = ["--env", "test:OPENAI_API_KEY"];
    assert_eq!(variable_in_chat("OPENAI_API_KEY", &named), "sk-usual");
    let set = ["--env", "test:PLAIN=b:c"];
    assert_eq!(variable_in_chat("PLAIN", &set), "b:c");
}

#[test]
fn options_for_an_unknown_server_are_rejected() {
    for args in [["--env", "other:A=b"], ["--inherit-env", "other"]] {
        let args = [&["--base-url", "http://localhost", "hi"][..], &args].concat();
        let outcome = outcome_of(without_server(&args).stdin(Stdio::null()).output().unwrap());
        outcome.check(2, "", "error: unknown server `other`\n");
    }
}
